#include "admin/http_server.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/admin/http_client.h"
#include "tests/admin/loop_thread.h"
#include "tests/net/scratch_folder.h"

using namespace weir;
using namespace weir::admin;
using namespace std::chrono_literals;

namespace {

// Says what it was asked: method, segments in brackets, query, and the body's size.
HttpResponse echo(const HttpRequest& request) {
  if (request.target == "/throw") throw std::runtime_error("broken");
  HttpResponse response;
  response.body = request.method;
  for (const std::string& segment : request.path) response.body += " [" + segment + "]";
  for (const auto& [key, value] : request.query) response.body += " " + key + "=" + value;
  response.body += " " + std::to_string(request.body.size());
  if (request.target == "/large") response.body.assign(3'000'000, 'x');
  return response;
}

core::Endpoint unix_path(const std::string& path) {
  return core::parse_endpoint("unix:" + path).endpoint;
}

// A server on a unix socket, on a thread of its own.
class Served {
 public:
  explicit Served(const HttpOptions& options = {.most_body = 4 * 1024 * 1024}) {
    thread_.on_loop([&] {
      std::string error;
      auto socket = net::ListenSocket::open(unix_path(folder_.file("s")), {}, error);
      server_ = std::make_unique<HttpServer>(thread_.loop(), std::move(socket), options,
                                             [this](const HttpRequest& request) {
                                               ++asked;
                                               if (request.target == "/stop") {
                                                 thread_.loop().post([this] { server_.reset(); });
                                               }
                                               return echo(request);
                                             });
      address_ = server_->address();
    });
  }
  ~Served() { stop(); }

  HttpClient client() { return HttpClient(address_); }
  const net::SocketAddress& address() const { return address_; }
  std::size_t connections() {
    std::size_t count = 0;
    thread_.on_loop([&] { count = server_->connections(); });
    return count;
  }
  bool comes_to(std::size_t count) {
    for (int tries = 0; tries < 20'000; ++tries) {
      if (connections() == count) return true;
      ::usleep(1000);
    }
    return false;
  }
  void stop() {
    thread_.on_loop([this] { server_.reset(); });
  }

  std::atomic<int> asked{0};

 private:
  net::ScratchFolder folder_;
  LoopThread thread_;
  std::unique_ptr<HttpServer> server_;
  net::SocketAddress address_;
};

}  // namespace

TEST_CASE("a request is answered with its length, its type and what keeps browsers honest") {
  Served served;
  HttpClient client = served.client();
  Answer answer = client.get("/v1/status?a=b");
  CHECK(answer.status == 200);
  CHECK(answer.body == "GET [v1] [status] a=b 0");
  CHECK(answer.headers["content-type"] == "application/json");
  CHECK(answer.headers["cache-control"] == "no-store");
  CHECK(answer.headers["x-content-type-options"] == "nosniff");
}

TEST_CASE("a connection is kept for further requests, and ends when the client says so") {
  Served served;
  HttpClient client = served.client();
  for (int i = 0; i < 50; ++i) CHECK(client.get("/" + std::to_string(i)).status == 200);
  CHECK(served.connections() == 1);
  client.send("GET / HTTP/1.1\r\nHost: weir\r\nConnection: close\r\n\r\n");
  CHECK(client.receive().status == 200);
  CHECK(client.ended());
}

TEST_CASE("HEAD is answered as GET is, without the body") {
  Served served;
  HttpClient client = served.client();
  Answer head = client.ask("HEAD", "/large");
  CHECK(head.status == 200);
  CHECK(head.headers["content-length"] == "3000000");
  CHECK(client.get("/next").body == "GET [next] 0");  // and nothing of it came
}

TEST_CASE("requests that were sent without waiting are answered in their order") {
  Served served;
  HttpClient client = served.client();
  std::string all;
  for (int i = 0; i < 100; ++i) {
    all += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: weir\r\n\r\n";
  }
  CHECK(client.send(all));
  for (int i = 0; i < 100; ++i) {
    CHECK(client.receive().body == "GET [" + std::to_string(i) + "] 0");
  }
}

TEST_CASE("names are decoded after the target was split, and a broken one is refused") {
  Served served;
  HttpClient client = served.client();
  CHECK(client.get("/a%2Fb/c%2e?x%3D=%26+&y").body == "GET [a/b] [c.] x==&+ y= 0");
  CHECK(client.get("/a/").body == "GET [a] [] 0");
  CHECK(client.get("/").body == "GET [] 0");
  for (const char* broken : {"/%", "/%2", "/%zz", "/?a=%f", "/?%G0=1"}) {
    CAPTURE(broken);
    const Answer refused = client.get(broken);
    CHECK(refused.status == 400);
    CHECK(refused.body.find("two hexadecimal digits") != std::string::npos);
  }
}

TEST_CASE("a body is whole however it comes: at once, in chunks, a byte at a time") {
  Served served;
  HttpClient client = served.client();
  CHECK(client.ask("POST", "/p", std::string(3'000'000, 'x')).body == "POST [p] 3000000");
  client.send("POST /p HTTP/1.1\r\nHost: weir\r\nTransfer-Encoding: chunked\r\n\r\n");
  client.send("5\r\nhello\r\n10;ext=1\r\n0123456789abcdef\r\n");
  client.send("0\r\n\r\n");
  CHECK(client.receive().body == "POST [p] 21");
  const std::string slow = "POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 3\r\n\r\nabc";
  for (const char byte : slow) client.send({&byte, 1});
  CHECK(client.receive().body == "POST [p] 3");
}

TEST_CASE("a client that asks first is told to go on before it sends its body") {
  Served served;
  HttpClient client = served.client();
  client.send(
      "POST /p HTTP/1.1\r\nHost: weir\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(client.receive().status == 100);
  client.send("ab");
  CHECK(client.receive().body == "POST [p] 2");
}

TEST_CASE("a body of a GET is read and dropped") {
  Served served;
  HttpClient client = served.client();
  CHECK(client.ask("GET", "/g", std::string(5'000'000, 'x')).body == "GET [g] 0");
  CHECK(client.get("/h").body == "GET [h] 0");
}

TEST_CASE("a server that takes no bodies drops those of any method") {
  Served served(HttpOptions{});
  HttpClient client = served.client();
  CHECK(client.ask("POST", "/p", std::string(5'000'000, 'x')).body == "POST [p] 0");
}

TEST_CASE("a body that says that it is too large is refused before it is sent") {
  Served served;
  HttpClient client = served.client();
  client.send("POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 4194305\r\n\r\n");
  const Answer refused = client.receive();
  CHECK(refused.status == 413);
  CHECK(refused.body.find(R"("code":"too_large")") != std::string::npos);
  CHECK(client.ended());
  CHECK(served.client().ask("POST", "/p", std::string(4194304, 'x')).status == 200);
  HttpClient huge = served.client();
  huge.send("POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 18446744073709551614\r\n\r\n");
  CHECK(huge.receive().status == 413);
  CHECK(served.asked == 1);
}

TEST_CASE("a chunked body that turns out too large is refused, and cut when it does not end") {
  Served served({.most_body = 1000});
  const std::string head = "POST /p HTTP/1.1\r\nHost: weir\r\nTransfer-Encoding: chunked\r\n\r\n";
  HttpClient client = served.client();
  client.send(head + "3e8\r\n" + std::string(1000, 'x') + "\r\n1\r\ny\r\n0\r\n\r\n");
  CHECK(client.receive().status == 413);
  CHECK(client.get("/next").status == 200);
  HttpClient endless = served.client();
  endless.send(head);
  const std::string chunk = "100000\r\n" + std::string(0x100000, 'x') + "\r\n";
  int sent = 0;
  while (sent < 100 && endless.send(chunk)) ++sent;
  CHECK(sent < 100);
  CHECK(endless.receive().status == 0);
  CHECK(served.asked == 1);
}

TEST_CASE("the bodies under way are bounded all together") {
  Served served({.most_body = 100'000});
  std::vector<HttpClient> senders;
  for (int i = 0; i < 5; ++i) {
    senders.push_back(served.client());
    senders.back().send("POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 99999\r\n\r\n");
    senders.back().send(std::string(99'998, 'x'));
    // All of it has arrived when a later request has been answered.
    CHECK(served.client().get("/").status == 200);
  }
  int busy = 0;
  for (HttpClient& each : senders) {
    each.send("x");
    busy += each.receive().status == 503 ? 1 : 0;
  }
  CHECK(busy == 1);
  CHECK(senders.back().ask("POST", "/p", std::string(99'999, 'x')).status == 200);
}

TEST_CASE("answers that nobody reads are bounded all together, and hinder no order") {
  Served served({.most_unsent = 7'000'000});
  std::vector<HttpClient> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(served.client());
    clients.back().send("GET /large HTTP/1.1\r\nHost: weir\r\n\r\n");
    CHECK(clients.back().peer().receive(12) == (i < 2 ? "HTTP/1.1 200" : "HTTP/1.1 503"));
  }
  CHECK(served.client().get("/small").status == 200);
  CHECK(served.client().ask("POST", "/order").status == 200);
  const Answer refused = served.client().get("/large");
  CHECK(refused.status == 503);
  CHECK(refused.body.find(R"("code":"busy")") != std::string::npos);
  // Who reads, or leaves, makes room again.
  CHECK(clients[0].rest().size() > 3'000'000);
  CHECK(served.client().get("/large").status == 200);
  clients.clear();
  CHECK(served.comes_to(0));
  CHECK(served.client().get("/large").status == 200);
}

TEST_CASE("an answer larger than the bound is given when it is the only one") {
  Served served({.most_unsent = 1000});
  HttpClient first = served.client();
  first.send("GET /large HTTP/1.1\r\nHost: weir\r\n\r\n");
  CHECK(first.peer().receive(12) == "HTTP/1.1 200");
  CHECK(served.client().get("/large").status == 503);
  CHECK(first.rest().size() > 3'000'000);
  CHECK(served.client().get("/large").body.size() == 3'000'000);
}

TEST_CASE("orders are answered beyond the bound, and refused undone beyond twice of it") {
  Served served({.most_unsent = 4'000'000});
  std::vector<HttpClient> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(served.client());
    clients.back().send("POST /large HTTP/1.1\r\nHost: weir\r\n\r\n");
    CHECK(clients.back().peer().receive(12) == (i < 3 ? "HTTP/1.1 200" : "HTTP/1.1 503"));
  }
  CHECK(served.asked == 3);
  CHECK(served.client().get("/small").status == 503);
  clients.clear();
  CHECK(served.comes_to(0));
  CHECK(served.client().get("/small").status == 200);
}

TEST_CASE("a target that is too long is refused") {
  Served served;
  HttpClient client = served.client();
  CHECK(client.get("/" + std::string(HttpServer::kMostTarget - 1, 'a')).status == 200);
  CHECK(client.get("/" + std::string(HttpServer::kMostTarget, 'a')).status == 414);
  const int larger_than_memory = served.client().get("/" + std::string(100'000, 'a')).status;
  CHECK((larger_than_memory == 414 || larger_than_memory == 0));
  CHECK(served.client().get("/").status == 200);
}

TEST_CASE("a handler that throws is answered with 500 and harms nobody else") {
  Served served;
  HttpClient client = served.client();
  CHECK(client.get("/throw").status == 500);
  CHECK(client.get("/next").status == 200);
}

TEST_CASE("what is not HTTP is refused and closed, half a request waits") {
  Served served;
  HttpClient half = served.client();
  half.send("GET / HTT");
  HttpClient nonsense = served.client();
  nonsense.send("\x16\x03\x01nonsense\r\n\r\n");
  nonsense.receive();
  CHECK(nonsense.ended());
  CHECK(served.client().get("/").status == 200);
  half.send("P/1.1\r\nHost: weir\r\n\r\n");
  CHECK(half.receive().status == 200);
}

TEST_CASE("a hundred silent, slow and greedy clients hinder nobody") {
  Served served({.most_unsent = 200'000'000});
  std::vector<HttpClient> others;
  for (int i = 0; i < 100; ++i) {
    others.push_back(served.client());
    if (i % 3 == 1)
      others.back().send("POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 9\r\n\r\nx");
    if (i % 3 == 2) others.back().send("GET /large HTTP/1.1\r\nHost: weir\r\n\r\n");
  }
  HttpClient client = served.client();
  for (int i = 0; i < 20; ++i) CHECK(client.get("/").status == 200);
  CHECK(served.comes_to(101));
  for (int i = 2; i < 100; i += 3) {
    CHECK(others[static_cast<std::size_t>(i)].receive().body.size() == 3'000'000);
  }
}

TEST_CASE("who leaves in the middle of a request or of an answer is forgotten") {
  Served served;
  {
    HttpClient sending = served.client();
    sending.send("POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 9\r\n\r\nx");
    HttpClient reading = served.client();
    reading.send("GET /large HTTP/1.1\r\nHost: weir\r\n\r\n");
    CHECK(reading.peer().receive(1000).size() == 1000);
    HttpClient silent = served.client();
    CHECK(served.comes_to(3));
  }
  CHECK(served.comes_to(0));
  CHECK(served.client().get("/").status == 200);
}

TEST_CASE("a client that has shut its side still gets its answer") {
  Served served;
  HttpClient client = served.client();
  client.send("GET / HTTP/1.1\r\nHost: weir\r\n\r\n");
  client.peer().shut_write();
  CHECK(client.receive().status == 200);
  CHECK(client.ended());
}

TEST_CASE("at the limit the quietest makes room, and whoever comes gets in") {
  Served served({.most_connections = 10});
  std::vector<HttpClient> clients;
  for (int i = 0; i < 10; ++i) clients.push_back(served.client());
  CHECK(served.comes_to(10));
  CHECK(clients[0].get("/").status == 200);  // now the second is the quietest
  clients.push_back(served.client());
  CHECK(clients[10].get("/").status == 200);
  CHECK(clients[1].ended());
  CHECK(served.comes_to(10));
  CHECK(clients[0].get("/").status == 200);
  // A crowd is let in whole, and the latest are served.
  std::vector<HttpClient> crowd;
  for (int i = 0; i < 200; ++i) crowd.push_back(served.client());
  for (std::size_t i = 190; i < 200; ++i) CHECK(crowd[i].get("/").status == 200);
  CHECK(served.comes_to(10));
}

TEST_CASE("who is in the middle of sending a body is not quiet") {
  Served served({.most_connections = 3, .most_body = 100});
  HttpClient sending = served.client();
  sending.send("POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 3\r\n\r\na");
  HttpClient quiet = served.client();
  HttpClient asking = served.client();
  CHECK(asking.get("/").status == 200);
  sending.send("b");
  CHECK(asking.get("/").status == 200);  // it was heard before this
  HttpClient last = served.client();
  CHECK(last.get("/").status == 200);
  CHECK(quiet.ended());
  sending.send("c");
  CHECK(sending.receive().body == "POST [p] 3");
}

TEST_CASE("a connection that says nothing for the idle time is closed") {
  Served served({.idle = 1s});
  HttpClient silent = served.client();
  HttpClient half = served.client();
  half.send("GET / HTTP/1.1\r\n");
  HttpClient kept = served.client();
  CHECK(kept.get("/").status == 200);
  CHECK(silent.ended());
  CHECK(kept.ended());
  CHECK(served.comes_to(0));
}

TEST_CASE("a server whose clients say nothing takes no processor time") {
  Served served;
  std::vector<HttpClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(served.client());
    clients.back().send("GET / HTTP/1.1\r\nHost: weir\r\n\r\nGET / HT");
    CHECK(clients.back().receive().status == 200);
  }
  const auto used = [] {
    timespec spent{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
  };
  const auto before = used();
  ::usleep(300'000);
  CHECK(used() - before < 100ms);
}

TEST_CASE("a request that ends the server in the next turn is still answered") {
  Served served;
  HttpClient client = served.client();
  CHECK(client.ask("POST", "/stop").body == "POST [stop] 0");
  CHECK(client.ended());
}

TEST_CASE("destroying the server closes every connection at once, whatever it is doing") {
  Served served;
  HttpClient silent = served.client();
  HttpClient half = served.client();
  half.send("POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 9\r\n\r\nx");
  HttpClient kept = served.client();
  CHECK(kept.get("/").status == 200);
  HttpClient reading = served.client();
  reading.send("GET /large HTTP/1.1\r\nHost: weir\r\n\r\n");
  CHECK(reading.peer().receive(1) == "H");
  CHECK(served.comes_to(4));
  served.stop();
  CHECK(silent.ended());
  CHECK(half.ended());
  CHECK(kept.ended());
  CHECK(reading.receive().body.size() < 3'000'000);
  CHECK_FALSE(net::connect_to(served.address()));
}
