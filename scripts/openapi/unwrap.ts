/** Removes the line breaks within a paragraph, which are for readers of the source. Paragraphs and list items keep theirs. */
export function unwrap(text: string): string {
  return text.trim().replaceAll(/(?<!\n)\n(?!\n|- )\s*/g, ' ')
}
