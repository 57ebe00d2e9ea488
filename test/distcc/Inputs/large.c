// A module that is as large as its file large.bin, and can't be made smaller.
const unsigned char large[] = {
#embed "large.bin"
};
