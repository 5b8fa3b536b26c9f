// With common headers precompiled doctest has been read before: `..._WITH_MAIN` would come too
// late.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

int main(int argc, char** argv) { return doctest::Context(argc, argv).run(); }
