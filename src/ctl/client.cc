#include "ctl/client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "ctl/words.h"

namespace weir::ctl {
namespace {

std::size_t append(char* data, std::size_t size, std::size_t count, void* body) {
  static_cast<std::string*>(body)->append(data, size * count);
  return size * count;
}

// Not 0 ends the transfer.
int progress(void* interrupted, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto& asked = *static_cast<const std::function<bool()>*>(interrupted);
  return asked && asked() ? 1 : 0;
}

const char* name_of(Method method) {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::post:
      return "POST";
    case Method::remove:
      return "DELETE";
  }
  return "GET";
}

}  // namespace

struct Client::Curl {
  Curl() {
    // curl's "Expect: 100-continue" makes a long body wait a second for a server that knows none.
    headers = curl_slist_append(nullptr, "Expect:");
    if (handle == nullptr || headers == nullptr) throw std::runtime_error("no memory for libcurl");
  }
  ~Curl() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(handle);
  }
  Curl(const Curl&) = delete;
  Curl& operator=(const Curl&) = delete;

  template <class Value>
  void set(CURLoption option, Value value) const {
    if (curl_easy_setopt(handle, option, value) != CURLE_OK) {
      throw std::runtime_error("libcurl lacks an option");
    }
  }

  CURL* const handle = curl_easy_init();
  curl_slist* headers = nullptr;
};

Client::Client(Options options) : options_(std::move(options)), curl_(std::make_unique<Curl>()) {
  const Curl& curl = *curl_;
  curl.set(CURLOPT_UNIX_SOCKET_PATH, options_.socket.c_str());
  curl.set(CURLOPT_PROTOCOLS_STR, "http");
  curl.set(CURLOPT_PATH_AS_IS, 1L);  // a pool may be named `..`
  curl.set(CURLOPT_NOSIGNAL, 1L);
  curl.set(CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout.count()));
  curl.set(CURLOPT_WRITEFUNCTION, &append);
  curl.set(CURLOPT_XFERINFOFUNCTION, &progress);
  curl.set(CURLOPT_XFERINFODATA, &options_.interrupted);
  curl.set(CURLOPT_NOPROGRESS, 0L);
  curl.set(CURLOPT_USERAGENT, "weirctl/" WEIR_VERSION);
}

Client::~Client() = default;

Answer Client::send(const Request& request) {
  const Curl& curl = *curl_;
  Answer answer;
  // The host is for the header alone.
  const std::string url = "http://weir" + request.target;
  curl.set(CURLOPT_URL, url.c_str());
  curl.set(CURLOPT_WRITEDATA, &answer.body);
  if (request.method == Method::post) {
    curl.set(CURLOPT_POST, 1L);
    curl.set(CURLOPT_POSTFIELDS, request.body.data());
    curl.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  } else {
    curl.set(CURLOPT_HTTPGET, 1L);
  }
  curl.set(CURLOPT_CUSTOMREQUEST, name_of(request.method));
  curl.set(CURLOPT_HTTPHEADER, curl.headers);

  const CURLcode code = curl_easy_perform(curl.handle);
  long status = 0;
  curl_easy_getinfo(curl.handle, CURLINFO_RESPONSE_CODE, &status);
  if (code == CURLE_OK) {
    answer.status = static_cast<int>(status);
    return answer;
  }
  answer.body.clear();
  answer.interrupted = code == CURLE_ABORTED_BY_CALLBACK;
  answer.failure = failure_of(code);
  return answer;
}

std::string Client::failure_of(int code) const {
  const std::string& socket = options_.socket;
  switch (code) {
    case CURLE_COULDNT_CONNECT: {
      long error = 0;
      curl_easy_getinfo(curl_->handle, CURLINFO_OS_ERRNO, &error);
      const auto reason = std::generic_category().message(static_cast<int>(error));
      const char* hint = error == EACCES ? "it belongs to the user that weir runs as"
                                         : "is weir running? --socket or WEIR_SOCKET names another";
      return fmt::format("cannot reach {}: {} ({})", socket, reason, hint);
    }
    case CURLE_OPERATION_TIMEDOUT:
      return fmt::format("no answer from {} within {}", socket, duration_text(options_.timeout));
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return fmt::format("{} closed the connection before its answer was complete", socket);
    case CURLE_ABORTED_BY_CALLBACK:
      return "interrupted";
  }
  return fmt::format("cannot ask {}: {}", socket, curl_easy_strerror(static_cast<CURLcode>(code)));
}

}  // namespace weir::ctl
