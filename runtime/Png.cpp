// SPDX-License-Identifier: Apache-2.0
/// \file
/// `.png` images (W3C PNG, third edition) of 8 bits a channel, and colours of complex values: the hue is the argument
/// (Wegert, Visual Complex Functions), the lightness grows with the magnitude.
#include "runtime/Io.h"

#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "runtime/Picture.h"
#include "support/Half.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <zlib.h>

namespace toy::rt {
namespace {

uint32_t bigEndian(const unsigned char *p) {
  return uint32_t(p[0]) << 24 | uint32_t(p[1]) << 16 | uint32_t(p[2]) << 8 | p[3];
}
void put(std::string &out, uint32_t n) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>(n >> shift);
}
void putChunk(std::string &out, const char *type, const std::string &data) {
  put(out, static_cast<uint32_t>(data.size()));
  std::string body = type + data;
  out += body;
  put(out, static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef *>(body.data()), body.size())));
}

uint8_t channel(double x) {
  return std::isnan(x) ? 0 : static_cast<uint8_t>(std::lround(std::clamp(x, 0.0, 1.0) * 255));
}

double elementOf(const Tensor &t, int64_t i) {
  switch (t.dtype) {
  case DType::Bool:
    return t.as<uint8_t>()[i];
  case DType::U8:
    return t.as<uint8_t>()[i] / 255.0;
  case DType::I32:
    return t.as<int32_t>()[i] / 255.0;
  case DType::I64:
    return static_cast<double>(t.as<int64_t>()[i]) / 255.0;
  case DType::BF16:
  case DType::F16:
    return fromHalf(t.dtype, t.as<uint16_t>()[i]);
  case DType::F32:
    return t.as<float>()[i];
  default:
    return t.as<double>()[i];
  }
}

/// A file of rows that each begin with a byte for their filter, none.
std::string pngFile(const std::string &raw, int64_t height, int64_t width, char colourType) {
  uLongf size = compressBound(raw.size());
  std::string packed(size, '\0'), out = "\x89PNG\r\n\x1a\n", header;
  compress2(reinterpret_cast<Bytef *>(packed.data()), &size, reinterpret_cast<const Bytef *>(raw.data()), raw.size(),
            6);
  packed.resize(size);
  put(header, static_cast<uint32_t>(width)), put(header, static_cast<uint32_t>(height));
  header += {8, colourType, 0, 0, 0};
  putChunk(out, "IHDR", header);
  putChunk(out, "IDAT", packed);
  putChunk(out, "IEND", "");
  return out;
}

} // namespace

/// Hue by the argument (0 is red, a third of a turn green), lightness from black at 0 to white at infinity.
std::array<uint8_t, 3> complexColour(double re, double im) {
  if (std::isnan(re) || std::isnan(im))
    return {128, 128, 128};
  std::array<uint8_t, 3> rgb{};
  double hue = std::atan2(im, re) / (2 * M_PI), lightness = 2 / M_PI * std::atan(std::hypot(re, im));
  double chroma = 1 - std::fabs(2 * lightness - 1);
  for (int i = 0; i < 3; ++i) {
    double k = hue - i / 3.0;
    double distance = std::fabs(k - std::round(k)) * 6; // 0 at the channel's own hue, 3 opposite
    rgb[i] = channel(lightness + chroma * (std::clamp(2 - distance, 0.0, 1.0) - 0.5));
  }
  return rgb;
}

std::string imageColours(const std::string &what, const Tensor &t, int64_t &height, int64_t &width) {
  int64_t channels = t.rank == 3 ? t.sizes[2] : 1;
  bool complex = isComplex(t.dtype);
  if ((t.rank != 2 && t.rank != 3) || (t.rank == 3 && (complex || (channels != 1 && channels != 3 && channels != 4))))
    fail(DiagId::CannotWrite, {what, "an image is [H, W], or [H, W, 1, 3 or 4] of real values"});
  height = t.sizes[0], width = t.sizes[1];
  std::string out(height * width * 3, '\0');
  auto *rgb = reinterpret_cast<uint8_t *>(out.data());
  for (int64_t i = 0; i < height * width; ++i, rgb += 3)
    if (t.dtype == DType::C64)
      std::ranges::copy(complexColour(t.as<float>()[2 * i], t.as<float>()[2 * i + 1]), rgb);
    else if (complex)
      std::ranges::copy(complexColour(t.as<double>()[2 * i], t.as<double>()[2 * i + 1]), rgb);
    else
      for (int64_t c = 0; c < 3; ++c)
        rgb[c] = channel(elementOf(t, i * channels + (channels >= 3 ? c : 0)));
  return out;
}

std::string pngText(const std::string &path, const Tensor &t) {
  int64_t height = 0, width = 0, channels = t.rank == 3 ? t.sizes[2] : 1;
  std::string colours = imageColours(path, t, height, width);
  bool grey = channels == 1 && !isComplex(t.dtype), alpha = channels == 4;
  if (height < 1 || width < 1 || height > INT32_MAX || width > INT32_MAX)
    fail(DiagId::CannotWrite, {path, "an image has at least one pixel"});
  int64_t perPixel = grey ? 1 : alpha ? 4 : 3;
  std::string raw;
  raw.reserve(height * (width * perPixel + 1));
  for (int64_t y = 0; y < height; ++y) {
    raw += '\0'; // no filter
    for (int64_t x = 0; x < width; ++x) {
      raw.append(colours, (y * width + x) * 3, grey ? 1 : 3);
      if (alpha)
        raw += static_cast<char>(channel(elementOf(t, (y * width + x) * 4 + 3)));
    }
  }
  return pngFile(raw, height, width, grey ? 0 : alpha ? 6 : 2);
}

std::string pngOf(const Pixels &pixels) {
  std::string raw;
  for (int64_t y = 0; y < pixels.rows; ++y)
    (raw += '\0').append(pixels.rgb, y * pixels.columns * 3, pixels.columns * 3);
  return pngFile(raw, pixels.rows, pixels.columns, 2);
}

TensorRef readPng(Bytes &file) {
  auto bad = [&](const char *why) { fail(DiagId::MalformedFile, {file.getPath(), ".png", why}); };
  Reservation forText(2 * file.size(), "`" + file.getPath() + "`"); // its pieces are joined below
  std::string contents = file.text(0, file.size());
  auto *p = reinterpret_cast<const unsigned char *>(contents.data());
  if (contents.size() < 33 || contents.compare(0, 8, "\x89PNG\r\n\x1a\n") != 0 || contents.compare(12, 4, "IHDR") != 0)
    bad("it does not start with the magic of the format");
  int64_t width = bigEndian(p + 16), height = bigEndian(p + 20);
  int depth = p[24], colour = p[25], interlaced = p[28];
  int channels = colour == 0 ? 1 : colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 0;
  if (depth != 8 || !channels || interlaced)
    bad("only images of 8 bits a channel, without palette and interlacing, are read");
  std::string packed;
  bool ended = false;
  for (size_t at = 8; at + 12 <= contents.size() && !ended;) {
    uint64_t length = bigEndian(p + at);
    if (length > contents.size() - at - 12)
      bad("a chunk is cut off");
    if (crc32_z(0, p + at + 4, length + 4) != bigEndian(p + at + 8 + length))
      bad("a checksum is wrong");
    if (contents.compare(at + 4, 4, "IDAT") == 0)
      packed.append(contents, at + 8, length);
    ended = contents.compare(at + 4, 4, "IEND") == 0;
    at += 12 + length;
  }
  int64_t stride = width * channels, rawSize = 0;
  if (!ended || width < 1 || height < 1 || __builtin_mul_overflow(height, stride + 1, &rawSize) ||
      rawSize > static_cast<int64_t>(packed.size()) * 1032 + 64)
    bad("it is cut off");
  Reservation forRows(rawSize, "the rows of `" + file.getPath() + "`");
  std::string raw(rawSize, '\0');
  uLongf size = rawSize;
  if (uncompress(reinterpret_cast<Bytef *>(raw.data()), &size, reinterpret_cast<const Bytef *>(packed.data()),
                 packed.size()) != Z_OK ||
      static_cast<int64_t>(size) != rawSize)
    bad("its data cannot be inflated");
  std::vector<int64_t> sizes = {height, width};
  if (channels > 1)
    sizes.push_back(channels);
  TensorRef out(newTensor(DType::U8, sizes));
  uint8_t *to = out->as<uint8_t>();
  for (int64_t y = 0; y < height; ++y) {
    auto *row = reinterpret_cast<const uint8_t *>(raw.data()) + y * (stride + 1);
    for (int64_t x = 0; x < stride; ++x) {
      int left = x >= channels ? to[y * stride + x - channels] : 0, up = y ? to[(y - 1) * stride + x] : 0,
          corner = y && x >= channels ? to[(y - 1) * stride + x - channels] : 0;
      int predictor = 0;
      switch (row[0]) {
      case 0:
        break;
      case 1:
        predictor = left;
        break;
      case 2:
        predictor = up;
        break;
      case 3:
        predictor = (left + up) / 2;
        break;
      case 4: {
        int estimate = left + up - corner, a = std::abs(estimate - left), b = std::abs(estimate - up),
            c = std::abs(estimate - corner);
        predictor = a <= b && a <= c ? left : b <= c ? up : corner;
        break;
      }
      default:
        bad("a row has an unknown filter");
      }
      to[y * stride + x] = static_cast<uint8_t>(row[1 + x] + predictor);
    }
  }
  return out;
}

} // namespace toy::rt
