# Writes the file OUTPUT, which defines kCodeVersion, a hash of the files SOURCES.
set(hashes)
foreach(source IN LISTS SOURCES)
  file(SHA256 ${source} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes}")
file(WRITE ${OUTPUT}
  "static constexpr llvm::StringLiteral kCodeVersion = \"${hash}\";\n")
