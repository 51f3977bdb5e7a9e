import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readServerSentEvents, type ServerSentEvent } from '../../src/streams/sse-reader.js'

async function read(text: string, cuts: readonly number[] = []): Promise<ServerSentEvent[]> {
  const bytes = new TextEncoder().encode(text)
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  async function* chunks() {
    for (const [index, end] of ends.entries()) yield bytes.subarray(ends[index - 1] ?? 0, end)
  }
  const events: ServerSentEvent[] = []
  for await (const event of readServerSentEvents(chunks())) events.push(event)
  return events
}

const STREAM =
  'id: a.1\r\ndata: {"x": "\u00e9\u{1f600}"}\r\n\r\n: heartbeat\nid: a.2\n\nevent: e\rdata:1\rdata: 2\r\r'

it('the reader of server-sent events reads blocks of bytes that are cut anywhere, with each kind of line end, the id of a comment and the name of an event', async () => {
  const property = fc.asyncProperty(fc.array(fc.nat()), async (cuts) => {
    expect(await read(`${STREAM}\n`, cuts)).toEqual([
      { id: 'a.1', event: undefined, data: '{"x": "\u00e9\u{1f600}"}' },
      { id: 'a.2', event: undefined, data: '' },
      { id: undefined, event: 'e', data: '1\n2' },
    ])
  })
  await fc.assert(property, { seed: 20_261_122, numRuns: 200 })
})

it('the reader of server-sent events omits a block that has not ended', async () => {
  expect(await read('data: 1\n\ndata: 2\n')).toEqual([{ id: undefined, event: undefined, data: '1' }])
})

it('the reader of server-sent events rejects a block of many short lines', async () => {
  await expect(read(':\n'.repeat(40_000))).rejects.toThrow('an event without an end')
})

it.each(['data: ', 'data: 1\n'])(
  'the reader of server-sent events rejects a block that does not end: %j',
  async (part) => {
    await expect(read(part.padEnd(100, 'x').repeat(20_000))).rejects.toThrow('an event without an end')
  },
)
