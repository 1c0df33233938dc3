// Pictures as the brightness of a board's cells, as Pillow has them with its box filter, so that the page and
// `nonojudge convert` make the same puzzle of a picture.

const MOST_PIXELS = 60_000_000;
const STRIP_PIXELS = 4_000_000; // read at once

function refused(message) {
  return Object.assign(new Error(message), { name: "Picture" });
}

// Returns the first picture of a file, upright.
export async function decoded(bytes) {
  let image;
  try {
    image = await createImageBitmap(new Blob([bytes]), { premultiplyAlpha: "none", colorSpaceConversion: "none" });
  } catch {
    throw refused("not a picture that this browser can read; it can read PNG, JPEG, GIF, WebP and BMP");
  }
  if (image.width * image.height > MOST_PIXELS) {
    throw refused(`the picture has over ${MOST_PIXELS / 1e6} million pixels; shrink it first`);
  }
  return image;
}

// The pixels that each of `cells` covers: from, to.
function spans(pixels, cells) {
  const scale = pixels / cells;
  const filter = Math.max(scale, 1);
  return Array.from({ length: cells }, (_, cell) => {
    const centre = (cell + 0.5) * scale;
    return [Math.trunc(centre - filter / 2 + 0.5), Math.min(pixels, Math.trunc(centre + filter / 2 + 0.5))];
  });
}

// Returns the brightness of `columns` by `rows` cells; what is transparent is white, inverted or not.
export function brightness(image, { columns, rows }, isInverted) {
  const { width, height } = image;
  const across = spans(width, columns);
  const means = new Float64Array(columns * height); // of each row of pixels
  const strip = Math.max(1, Math.floor(STRIP_PIXELS / width));
  const context = new OffscreenCanvas(width, Math.min(strip, height)).getContext("2d", { willReadFrequently: true });
  for (let top = 0; top < height; top += strip) {
    const count = Math.min(strip, height - top);
    context.clearRect(0, 0, width, count);
    context.drawImage(image, 0, -top);
    const { data } = context.getImageData(0, 0, width, count);
    for (let y = 0; y < count; y++) {
      for (let x = 0; x < columns; x++) {
        const [from, to] = across[x];
        let sum = 0;
        for (let pixel = from; pixel < to; pixel++) sum += grey(data, 4 * (y * width + pixel), isInverted);
        means[(top + y) * columns + x] = Math.round(sum / (to - from));
      }
    }
  }
  const found = new Uint8Array(columns * rows);
  for (const [y, [from, to]] of spans(height, rows).entries()) {
    for (let x = 0; x < columns; x++) {
      let sum = 0;
      for (let row = from; row < to; row++) sum += means[row * columns + x];
      found[y * columns + x] = Math.round(sum / (to - from));
    }
  }
  return found;
}

function grey(data, start, isInverted) {
  const light = (data[start] * 19595 + data[start + 1] * 38470 + data[start + 2] * 7471 + 0x8000) >> 16;
  const alpha = data[start + 3];
  const shade = isInverted ? 255 - light : light;
  return alpha === 255 ? shade : Math.round((shade * alpha + 255 * (255 - alpha)) / 255);
}
