#pragma once

#include <string>

namespace weir::e2e {

// A program that speaks the other end of an upgrade, so far as the test has it: Python statements
// that use say(), say_ready(), hear() and `channel`. It has taken the sockets, and adopts none.
inline std::string successor(const std::string& statements) {
  return R"(#!/usr/bin/python3
import array, json, os, socket, struct, time

channel = socket.socket(fileno=3)

def say(message):
    text = json.dumps(message).encode()
    channel.sendall(struct.pack("=II", len(text), 0) + text)

def say_ready():
    say({"failure": "", "adopted": []})

# Whatever comes next; an end is the end of this program.
def hear():
    bytes, rights, _, _ = channel.recvmsg(1 << 20, socket.CMSG_SPACE(253 * 4))
    if not bytes:
        exit(0)

hear()
)" + statements +
         "\n";
}

}  // namespace weir::e2e
