#include "ctl/top.h"

// Its macros have names such as `timeout` and `erase`.
#define NCURSES_NOMACROS
#include <curses.h>

#include <memory>

#include "ctl/poll.h"

namespace weir::ctl {
namespace {

using namespace std::chrono_literals;
constexpr auto kInterval = 1s;

// The terminal as curses has it, given back as it was.
class Terminal {
 public:
  static std::unique_ptr<Terminal> open(const Shell& shell) {
    SCREEN* screen = newterm(nullptr, shell.out, shell.in);
    return screen == nullptr ? nullptr : std::unique_ptr<Terminal>(new Terminal(screen));
  }
  ~Terminal() {
    endwin();
    delscreen(screen_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  ScreenSize size() const {
    return {static_cast<std::size_t>(getmaxy(stdscr)), static_cast<std::size_t>(getmaxx(stdscr))};
  }

  void draw(const std::vector<Line>& lines) const {
    werase(stdscr);
    int row = 0;
    for (const Line& line : lines) {
      wmove(stdscr, row++, 0);
      for (const Span& span : line) {
        wattrset(stdscr, attribute_of(span.mark));
        waddnstr(stdscr, span.text.c_str(), -1);
      }
    }
    wattrset(stdscr, 0);
    wrefresh(stdscr);
  }

  enum class Key { none, quit, resized };
  // Waits for a key so long.
  Key key(std::chrono::milliseconds wait) const {
    wtimeout(stdscr, static_cast<int>(wait.count()));
    switch (wgetch(stdscr)) {
      case 'q':
      case 'Q':
        return Key::quit;
      case KEY_RESIZE:
        return Key::resized;
    }
    return Key::none;
  }

 private:
  explicit Terminal(SCREEN* screen) : screen_(screen) {
    cbreak();  // Ctrl-C stays a signal
    noecho();
    keypad(stdscr, true);
    curs_set(0);
    if (has_colors()) {
      start_color();
      use_default_colors();
      init_pair(1, COLOR_YELLOW, -1);
      init_pair(2, COLOR_RED, -1);
    }
  }

  static int attribute_of(Mark mark) {
    switch (mark) {
      case Mark::plain:
        return 0;
      case Mark::heading:
        return static_cast<int>(A_BOLD);
      case Mark::warning:
        return COLOR_PAIR(1);
      case Mark::bad:
        return COLOR_PAIR(2) | static_cast<int>(A_BOLD);
    }
    return 0;
  }

  SCREEN* const screen_;
};

// Plain text for where there is no terminal. Rates need two looks.
int once(const Call& call) {
  Poll poll(call);
  if (!poll.run()) return refuse(call, poll.failed());
  if (!call.shell.pause(kInterval)) return kDone;
  if (!poll.run()) return refuse(call, poll.failed());
  say(call.shell, text_of(poll.frame({}), false));
  return kDone;
}

int live(const Call& call) {
  Poll poll(call);
  // Before the screen is taken: a wrong socket is better told on the command line.
  if (!poll.run()) return refuse(call, poll.failed());
  // Before curses, which would take Ctrl-C for itself.
  call.shell.hold_interrupts();
  const auto terminal = Terminal::open(call.shell);
  if (terminal == nullptr) {
    complain(call.shell, "top: this terminal (TERM) is unknown; top --once needs none");
    return kFailed;
  }
  auto next = call.shell.steady_now() + kInterval;
  while (!call.shell.interrupted()) {
    terminal->draw(poll.frame(terminal->size()));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - call.shell.steady_now());
    if (left > 0ms) {
      if (terminal->key(left) == Terminal::Key::quit) break;
      continue;
    }
    poll.run();
    next = call.shell.steady_now() + kInterval;
  }
  return kDone;
}

}  // namespace

int top(const Call& call) {
  if (call.json) {
    complain(call.shell, "top is for people: scripts ask listeners, pools and events");
    return kUsage;
  }
  if (call.has("--once")) return once(call);
  if (!call.shell.terminal) {
    complain(call.shell, "top needs a terminal; top --once prints one screen");
    return kUsage;
  }
  return live(call);
}

}  // namespace weir::ctl
