import { expect, test } from 'vitest'
import { wholeMessages } from '../../src/internals/whole-messages.js'

const MAX_BYTES = 100

function envelope(length: number, sent = length): Buffer {
  const bytes = Buffer.alloc(5 + sent, length)
  bytes[0] = 0
  bytes.writeUInt32BE(length, 1)
  return bytes
}

async function* inPieces(bytes: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let begin = 0; begin < bytes.length; begin += length) yield bytes.subarray(begin, begin + length)
}

async function gathered(bytes: Buffer, length: number, hasEnvelopes = true): Promise<Buffer[]> {
  const parts: Buffer[] = []
  for await (const part of wholeMessages(inPieces(bytes, length), MAX_BYTES, hasEnvelopes))
    parts.push(Buffer.from(part))
  return parts
}

test('wholeMessages gives each message of chunks of one byte at once', async () => {
  const messages = [envelope(7), envelope(0), envelope(MAX_BYTES)]
  expect(await gathered(Buffer.concat(messages), 1)).toEqual(messages)
})

test.each([1, 3, 8, 64, 1000])('wholeMessages changes no byte of chunks of %d', async (length) => {
  const bytes = Buffer.concat([envelope(7), envelope(0), envelope(20), envelope(50, 30)])
  expect(Buffer.concat(await gathered(bytes, length))).toEqual(bytes)
})

test('wholeMessages passes on a head that is cut off', async () => {
  expect(await gathered(envelope(1).subarray(0, 3), 1)).toEqual([envelope(1).subarray(0, 3)])
})

test('wholeMessages gives a body without envelopes at its end', async () => {
  const body = Buffer.alloc(MAX_BYTES, 'x')
  expect(await gathered(body, 1, false)).toEqual([body])
})

test.each([
  ['is longer than 100 bytes', envelope(MAX_BYTES + 1, 0), true],
  ['is longer than 100 bytes', Buffer.alloc(MAX_BYTES + 1), false],
  ['has too many chunks', Buffer.alloc(1025), false],
])('wholeMessages refuses what %s', async (reason, bytes, hasEnvelopes) => {
  const maxBytes = reason.includes('chunks') ? 2000 : MAX_BYTES
  const parts = wholeMessages(inPieces(bytes, 1), maxBytes, hasEnvelopes)
  await expect(parts.next()).rejects.toThrow(`the message ${reason}`)
})
