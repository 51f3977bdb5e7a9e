import { UnreadableAnswer } from '../calls/aggregator-error.js'

/** One block of a stream of server-sent events (HTML standard, 9.2). */
export interface ServerSentEvent {
  /** Undefined when the block has none. */
  readonly id: string | undefined
  /** Name of the event; undefined when the block has none. */
  readonly event: string | undefined
  /** Empty for a comment, which only shows that the stream is alive. */
  readonly data: string
}

/** Far more than any event of an aggregator has. */
const MAX_BLOCK_CHARACTERS = 1024 * 1024
/** What a line costs beside its characters: an instance must not send a block of a million short ones. */
const LINE_CHARACTERS = 64
const LINE_END = /\r\n|\n|\r/

/**
 * Reads server-sent events. Libraries for this skip a block without data, but the id of such a block is the cursor of a
 * stream without events.
 * @throws UnreadableAnswer for a block that does not end; the error of the body when the connection breaks
 */
export async function* readServerSentEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent, void, void> {
  const decoder = new TextDecoder()
  let rest = ''
  let isAfterReturn = false
  let block: string[] = []
  let size = 0
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true })
    // Only what is new is searched: a line may come byte by byte. A line feed may be the second half of a line's end.
    const lines = (isAfterReturn ? text.replace(/^\n/, '') : text).split(LINE_END)
    if (text !== '') isAfterReturn = text.endsWith('\r')
    lines[0] = rest + lines[0]
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line !== '') {
        block.push(line)
        size += line.length + LINE_CHARACTERS
      } else if (block.length > 0) {
        yield readBlock(block)
        block = []
        size = 0
      }
    }
    if (size + rest.length > MAX_BLOCK_CHARACTERS) throw new UnreadableAnswer('an event without an end')
  }
}

function readBlock(lines: readonly string[]): ServerSentEvent {
  const fields = lines.map((line) => /^([^:]*):? ?(.*)$/s.exec(line) ?? [])
  const valuesOf = (wanted: string) =>
    fields.flatMap(([, name, value = '']) => (name === wanted ? [value] : []))
  return { id: valuesOf('id').at(-1), event: valuesOf('event').at(-1), data: valuesOf('data').join('\n') }
}
