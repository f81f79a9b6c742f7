/** Pictures that go along with a message: which are taken, and as what they are sent. */

import { t } from '../strings';
import type { Image } from '../wire';

export const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
export const MOST_PICTURES = 8;
const MOST_BYTES = 5_000_000;

/** Why a file is not taken, in words; undefined when it is. */
export function refusalOf({ name, type, size }: File): string | undefined {
  if (!PICTURES.includes(type)) {
    return t('picture.type', { name });
  }
  return size > MOST_BYTES ? t('picture.size', { name, mb: MOST_BYTES / 1_000_000 }) : undefined;
}

export async function imageOf(file: File): Promise<Image> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return { mediaType: file.type, base64: btoa(binary) };
}
