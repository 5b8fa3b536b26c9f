# Makes one page of src/admin/dashboard and writes it as a C++ source:
#   cmake -DFROM=FOLDER -DTO=FILE -P cmake/dashboard.cmake
# The policy allows exactly the style and the script that are in it, by their hashes.
cmake_policy(VERSION 3.25)

# SHA-256 in base64, which CMake itself does not write.
function(hash_of text to)
  string(SHA256 hex "${text}")
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(written "")
  foreach(place RANGE 0 60 6)
    string(SUBSTRING "${hex}00" ${place} 6 three_bytes)
    math(EXPR value "0x${three_bytes}")
    foreach(shift 18 12 6 0)
      math(EXPR digit "(${value} >> ${shift}) & 63")
      string(SUBSTRING "${digits}" ${digit} 1 digit)
      string(APPEND written "${digit}")
    endforeach()
  endforeach()
  # 32 bytes are 43 digits; the last three bytes lack one.
  string(SUBSTRING "${written}" 0 43 written)
  set(${to} "sha256-${written}=" PARENT_SCOPE)
endfunction()

file(READ ${FROM}/index.html page)
file(READ ${FROM}/style.css style)
set(script "")
foreach(part series view parts poll)  # each uses only what comes before it when it is read
  file(READ ${FROM}/${part}.js text)
  string(APPEND script "${text}")
endforeach()
hash_of("${style}" style_hash)
hash_of("${script}" script_hash)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")

file(WRITE ${TO} "#include \"admin/dashboard.h\"

namespace weir::admin {

const std::string_view kDashboardPage = R\"page(${page})page\";

const std::string_view kDashboardPolicy =
    \"default-src 'none'; style-src '${style_hash}'; script-src '${script_hash}'; \"
    \"connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \"
    \"frame-ancestors 'none'\";

}  // namespace weir::admin
")
