import { readFileSync } from 'node:fs'

/** A fenced block of code in a document. */
export interface CodeBlock {
  readonly document: string
  /** Of its first line of code, from 1. */
  readonly line: number
  readonly language: string
  readonly code: string
  /** What the comment right before it says: `example`, `example: stream`, `not run: a reason`. */
  readonly marker: string | undefined
  /** The block right after it, if that is JSON: what an example answers. */
  readonly answer: string | undefined
}

const BLOCK = /(?:^<!-- ((?:example|not run)\b[^\n]*?) -->\n)?^```(\w*)\n(.*?)^```$/gms
const ANSWER = /\n+```jsonc?\n(.*?)^```$/msy

/** All fenced blocks of a document. @param text its Markdown */
export function codeBlocks(document: string, text = readFileSync(document, 'utf8')): CodeBlock[] {
  return [...text.matchAll(BLOCK)].map((match) => {
    const [whole, marker, language = '', code = ''] = match
    const line = text.slice(0, match.index + whole.indexOf('```')).split('\n').length + 1
    ANSWER.lastIndex = match.index + whole.length
    const answer = marker?.startsWith('example') ? ANSWER.exec(text)?.[1] : undefined
    return { document, line, language, code, marker, answer }
  })
}

/** Whether a reader would paste the block and run it against an instance. */
export function looksRunnable({ language, code }: Pick<CodeBlock, 'language' | 'code'>): boolean {
  if (['js', 'ts', 'javascript', 'typescript', 'jsx', 'tsx'].includes(language)) return true
  return ['sh', 'bash', 'shell', ''].includes(language) && /^(.*[|(;&]\s*)?(curl|npx) /m.test(code)
}

/** The comments of JSON are for the reader. An empty list stands for any, where a comment says what is in it. */
export function withoutComments(jsonc: string): string {
  return jsonc.replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*.*?\*\//gs, (_, text) => text ?? '')
}
