/** Shortens an address, a hash or an id in the middle: `0x3C44…93BC`. */
export function shorten(text: string): string {
  return text.length <= 13 ? text : `${text.slice(0, text.startsWith('0x') ? 6 : 8)}…${text.slice(-4)}`
}
