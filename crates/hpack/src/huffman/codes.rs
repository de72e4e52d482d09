//! The Huffman code of HPACK (RFC 7541 Appendix B), in the order of the RFC: row = symbol.
//!
//! Everything else about the code is derived from this table: the encoder reads it as it stands, the
//! decoder's tables are built from it in `decode.rs` when the crate is compiled.

/// A code word: its `len` lowest bits, first bit highest.
#[derive(Clone, Copy)]
pub(crate) struct Code {
    pub(crate) bits: u32,
    pub(crate) len: u8,
}

/// Bytes 0 to 255, then the end-of-string symbol, which never stands in a string (RFC 7541 §5.2).
pub(crate) static CODES: [Code; 257] = TABLE;

/// The longest code word, in bits.
pub(crate) const LEN_MAX: u8 = 30;
/// The shortest code word, in bits.
pub(crate) const LEN_MIN: u8 = 5;

const fn code(bits: u32, len: u8) -> Code {
    Code { bits, len }
}

/// The table as a constant, for what is computed from it.
#[rustfmt::skip]
pub(super) const TABLE: [Code; 257] = [
    code(0x1ff8, 13),      //   0
    code(0x7fffd8, 23),    //   1
    code(0xfffffe2, 28),   //   2
    code(0xfffffe3, 28),   //   3
    code(0xfffffe4, 28),   //   4
    code(0xfffffe5, 28),   //   5
    code(0xfffffe6, 28),   //   6
    code(0xfffffe7, 28),   //   7
    code(0xfffffe8, 28),   //   8
    code(0xffffea, 24),    //   9
    code(0x3ffffffc, 30),  //  10
    code(0xfffffe9, 28),   //  11
    code(0xfffffea, 28),   //  12
    code(0x3ffffffd, 30),  //  13
    code(0xfffffeb, 28),   //  14
    code(0xfffffec, 28),   //  15
    code(0xfffffed, 28),   //  16
    code(0xfffffee, 28),   //  17
    code(0xfffffef, 28),   //  18
    code(0xffffff0, 28),   //  19
    code(0xffffff1, 28),   //  20
    code(0xffffff2, 28),   //  21
    code(0x3ffffffe, 30),  //  22
    code(0xffffff3, 28),   //  23
    code(0xffffff4, 28),   //  24
    code(0xffffff5, 28),   //  25
    code(0xffffff6, 28),   //  26
    code(0xffffff7, 28),   //  27
    code(0xffffff8, 28),   //  28
    code(0xffffff9, 28),   //  29
    code(0xffffffa, 28),   //  30
    code(0xffffffb, 28),   //  31
    code(0x14, 6),         //  32 ' '
    code(0x3f8, 10),       //  33 '!'
    code(0x3f9, 10),       //  34 '"'
    code(0xffa, 12),       //  35 '#'
    code(0x1ff9, 13),      //  36 '$'
    code(0x15, 6),         //  37 '%'
    code(0xf8, 8),         //  38 '&'
    code(0x7fa, 11),       //  39 "'"
    code(0x3fa, 10),       //  40 '('
    code(0x3fb, 10),       //  41 ')'
    code(0xf9, 8),         //  42 '*'
    code(0x7fb, 11),       //  43 '+'
    code(0xfa, 8),         //  44 ','
    code(0x16, 6),         //  45 '-'
    code(0x17, 6),         //  46 '.'
    code(0x18, 6),         //  47 '/'
    code(0x0, 5),          //  48 '0'
    code(0x1, 5),          //  49 '1'
    code(0x2, 5),          //  50 '2'
    code(0x19, 6),         //  51 '3'
    code(0x1a, 6),         //  52 '4'
    code(0x1b, 6),         //  53 '5'
    code(0x1c, 6),         //  54 '6'
    code(0x1d, 6),         //  55 '7'
    code(0x1e, 6),         //  56 '8'
    code(0x1f, 6),         //  57 '9'
    code(0x5c, 7),         //  58 ':'
    code(0xfb, 8),         //  59 ';'
    code(0x7ffc, 15),      //  60 '<'
    code(0x20, 6),         //  61 '='
    code(0xffb, 12),       //  62 '>'
    code(0x3fc, 10),       //  63 '?'
    code(0x1ffa, 13),      //  64 '@'
    code(0x21, 6),         //  65 'A'
    code(0x5d, 7),         //  66 'B'
    code(0x5e, 7),         //  67 'C'
    code(0x5f, 7),         //  68 'D'
    code(0x60, 7),         //  69 'E'
    code(0x61, 7),         //  70 'F'
    code(0x62, 7),         //  71 'G'
    code(0x63, 7),         //  72 'H'
    code(0x64, 7),         //  73 'I'
    code(0x65, 7),         //  74 'J'
    code(0x66, 7),         //  75 'K'
    code(0x67, 7),         //  76 'L'
    code(0x68, 7),         //  77 'M'
    code(0x69, 7),         //  78 'N'
    code(0x6a, 7),         //  79 'O'
    code(0x6b, 7),         //  80 'P'
    code(0x6c, 7),         //  81 'Q'
    code(0x6d, 7),         //  82 'R'
    code(0x6e, 7),         //  83 'S'
    code(0x6f, 7),         //  84 'T'
    code(0x70, 7),         //  85 'U'
    code(0x71, 7),         //  86 'V'
    code(0x72, 7),         //  87 'W'
    code(0xfc, 8),         //  88 'X'
    code(0x73, 7),         //  89 'Y'
    code(0xfd, 8),         //  90 'Z'
    code(0x1ffb, 13),      //  91 '['
    code(0x7fff0, 19),     //  92 '\\'
    code(0x1ffc, 13),      //  93 ']'
    code(0x3ffc, 14),      //  94 '^'
    code(0x22, 6),         //  95 '_'
    code(0x7ffd, 15),      //  96 '`'
    code(0x3, 5),          //  97 'a'
    code(0x23, 6),         //  98 'b'
    code(0x4, 5),          //  99 'c'
    code(0x24, 6),         // 100 'd'
    code(0x5, 5),          // 101 'e'
    code(0x25, 6),         // 102 'f'
    code(0x26, 6),         // 103 'g'
    code(0x27, 6),         // 104 'h'
    code(0x6, 5),          // 105 'i'
    code(0x74, 7),         // 106 'j'
    code(0x75, 7),         // 107 'k'
    code(0x28, 6),         // 108 'l'
    code(0x29, 6),         // 109 'm'
    code(0x2a, 6),         // 110 'n'
    code(0x7, 5),          // 111 'o'
    code(0x2b, 6),         // 112 'p'
    code(0x76, 7),         // 113 'q'
    code(0x2c, 6),         // 114 'r'
    code(0x8, 5),          // 115 's'
    code(0x9, 5),          // 116 't'
    code(0x2d, 6),         // 117 'u'
    code(0x77, 7),         // 118 'v'
    code(0x78, 7),         // 119 'w'
    code(0x79, 7),         // 120 'x'
    code(0x7a, 7),         // 121 'y'
    code(0x7b, 7),         // 122 'z'
    code(0x7ffe, 15),      // 123 '{'
    code(0x7fc, 11),       // 124 '|'
    code(0x3ffd, 14),      // 125 '}'
    code(0x1ffd, 13),      // 126 '~'
    code(0xffffffc, 28),   // 127
    code(0xfffe6, 20),     // 128
    code(0x3fffd2, 22),    // 129
    code(0xfffe7, 20),     // 130
    code(0xfffe8, 20),     // 131
    code(0x3fffd3, 22),    // 132
    code(0x3fffd4, 22),    // 133
    code(0x3fffd5, 22),    // 134
    code(0x7fffd9, 23),    // 135
    code(0x3fffd6, 22),    // 136
    code(0x7fffda, 23),    // 137
    code(0x7fffdb, 23),    // 138
    code(0x7fffdc, 23),    // 139
    code(0x7fffdd, 23),    // 140
    code(0x7fffde, 23),    // 141
    code(0xffffeb, 24),    // 142
    code(0x7fffdf, 23),    // 143
    code(0xffffec, 24),    // 144
    code(0xffffed, 24),    // 145
    code(0x3fffd7, 22),    // 146
    code(0x7fffe0, 23),    // 147
    code(0xffffee, 24),    // 148
    code(0x7fffe1, 23),    // 149
    code(0x7fffe2, 23),    // 150
    code(0x7fffe3, 23),    // 151
    code(0x7fffe4, 23),    // 152
    code(0x1fffdc, 21),    // 153
    code(0x3fffd8, 22),    // 154
    code(0x7fffe5, 23),    // 155
    code(0x3fffd9, 22),    // 156
    code(0x7fffe6, 23),    // 157
    code(0x7fffe7, 23),    // 158
    code(0xffffef, 24),    // 159
    code(0x3fffda, 22),    // 160
    code(0x1fffdd, 21),    // 161
    code(0xfffe9, 20),     // 162
    code(0x3fffdb, 22),    // 163
    code(0x3fffdc, 22),    // 164
    code(0x7fffe8, 23),    // 165
    code(0x7fffe9, 23),    // 166
    code(0x1fffde, 21),    // 167
    code(0x7fffea, 23),    // 168
    code(0x3fffdd, 22),    // 169
    code(0x3fffde, 22),    // 170
    code(0xfffff0, 24),    // 171
    code(0x1fffdf, 21),    // 172
    code(0x3fffdf, 22),    // 173
    code(0x7fffeb, 23),    // 174
    code(0x7fffec, 23),    // 175
    code(0x1fffe0, 21),    // 176
    code(0x1fffe1, 21),    // 177
    code(0x3fffe0, 22),    // 178
    code(0x1fffe2, 21),    // 179
    code(0x7fffed, 23),    // 180
    code(0x3fffe1, 22),    // 181
    code(0x7fffee, 23),    // 182
    code(0x7fffef, 23),    // 183
    code(0xfffea, 20),     // 184
    code(0x3fffe2, 22),    // 185
    code(0x3fffe3, 22),    // 186
    code(0x3fffe4, 22),    // 187
    code(0x7ffff0, 23),    // 188
    code(0x3fffe5, 22),    // 189
    code(0x3fffe6, 22),    // 190
    code(0x7ffff1, 23),    // 191
    code(0x3ffffe0, 26),   // 192
    code(0x3ffffe1, 26),   // 193
    code(0xfffeb, 20),     // 194
    code(0x7fff1, 19),     // 195
    code(0x3fffe7, 22),    // 196
    code(0x7ffff2, 23),    // 197
    code(0x3fffe8, 22),    // 198
    code(0x1ffffec, 25),   // 199
    code(0x3ffffe2, 26),   // 200
    code(0x3ffffe3, 26),   // 201
    code(0x3ffffe4, 26),   // 202
    code(0x7ffffde, 27),   // 203
    code(0x7ffffdf, 27),   // 204
    code(0x3ffffe5, 26),   // 205
    code(0xfffff1, 24),    // 206
    code(0x1ffffed, 25),   // 207
    code(0x7fff2, 19),     // 208
    code(0x1fffe3, 21),    // 209
    code(0x3ffffe6, 26),   // 210
    code(0x7ffffe0, 27),   // 211
    code(0x7ffffe1, 27),   // 212
    code(0x3ffffe7, 26),   // 213
    code(0x7ffffe2, 27),   // 214
    code(0xfffff2, 24),    // 215
    code(0x1fffe4, 21),    // 216
    code(0x1fffe5, 21),    // 217
    code(0x3ffffe8, 26),   // 218
    code(0x3ffffe9, 26),   // 219
    code(0xffffffd, 28),   // 220
    code(0x7ffffe3, 27),   // 221
    code(0x7ffffe4, 27),   // 222
    code(0x7ffffe5, 27),   // 223
    code(0xfffec, 20),     // 224
    code(0xfffff3, 24),    // 225
    code(0xfffed, 20),     // 226
    code(0x1fffe6, 21),    // 227
    code(0x3fffe9, 22),    // 228
    code(0x1fffe7, 21),    // 229
    code(0x1fffe8, 21),    // 230
    code(0x7ffff3, 23),    // 231
    code(0x3fffea, 22),    // 232
    code(0x3fffeb, 22),    // 233
    code(0x1ffffee, 25),   // 234
    code(0x1ffffef, 25),   // 235
    code(0xfffff4, 24),    // 236
    code(0xfffff5, 24),    // 237
    code(0x3ffffea, 26),   // 238
    code(0x7ffff4, 23),    // 239
    code(0x3ffffeb, 26),   // 240
    code(0x7ffffe6, 27),   // 241
    code(0x3ffffec, 26),   // 242
    code(0x3ffffed, 26),   // 243
    code(0x7ffffe7, 27),   // 244
    code(0x7ffffe8, 27),   // 245
    code(0x7ffffe9, 27),   // 246
    code(0x7ffffea, 27),   // 247
    code(0x7ffffeb, 27),   // 248
    code(0xffffffe, 28),   // 249
    code(0x7ffffec, 27),   // 250
    code(0x7ffffed, 27),   // 251
    code(0x7ffffee, 27),   // 252
    code(0x7ffffef, 27),   // 253
    code(0x7fffff0, 27),   // 254
    code(0x3ffffee, 26),   // 255
    code(0x3fffffff, 30),  // 256 EOS
];

// A prefix code is complete exactly when its Kraft sum is one: a mistyped length does not compile.
const _: () = {
    let mut kraft = 0u64;
    let mut symbol = 0;
    while symbol < TABLE.len() {
        assert!(TABLE[symbol].len >= LEN_MIN && TABLE[symbol].len <= LEN_MAX);
        kraft += 1 << (LEN_MAX - TABLE[symbol].len);
        symbol += 1;
    }
    assert!(kraft == 1 << LEN_MAX);
};

// The code is canonical: ordered by length and then by symbol, each word is the one before plus one. The
// lengths alone pin every bit: a mistyped bit does not compile either.
const _: () = {
    let mut next = 0;
    let mut len = LEN_MIN;
    while len <= LEN_MAX {
        let mut symbol = 0;
        while symbol < TABLE.len() {
            if TABLE[symbol].len == len {
                assert!(TABLE[symbol].bits == next);
                next += 1;
            }
            symbol += 1;
        }
        next <<= 1;
        len += 1;
    }
};
