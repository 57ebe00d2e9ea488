// A module as large as the file large.bin, which can't be compressed.
const unsigned char large[] = {
#embed "large.bin"
};
