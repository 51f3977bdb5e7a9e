import { readFileSync } from 'node:fs'

/** A fenced block of code in a document. */
export interface CodeBlock {
  readonly document: string
  /** The line of its first code, from 1. */
  readonly line: number
  readonly language: string
  readonly code: string
  /** The comment directly before it: `example`, `example: stream`, `example: quotes`, `example: replicas`, `example: session`, `example: swap`, `part of <file>`, `not run: a reason`. */
  readonly marker: string | undefined
  /** The JSON block directly after it, if any: the response of an example. */
  readonly answer: string | undefined
}

const BLOCK = /(?:^<!-- ((?:example|part of|not run)\b[^\n]*?) -->\n)?^```(\w*)\n(.*?)^```$/gms
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

/** Whether a reader would copy the block and run it against an instance. */
export function looksRunnable({ language, code }: Pick<CodeBlock, 'language' | 'code'>): boolean {
  if (['js', 'ts', 'javascript', 'typescript', 'jsx', 'tsx'].includes(language)) return true
  return ['sh', 'bash', 'shell', ''].includes(language) && /^(.*[|(;&]\s*)?(curl|npx) /m.test(code)
}

/**
 * Removes the comments of JSON, which are for the reader. An empty list stands for any list where a comment
 * describes its items.
 */
export function withoutComments(jsonc: string): string {
  return jsonc.replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*.*?\*\//gs, (_, text) => text ?? '')
}
