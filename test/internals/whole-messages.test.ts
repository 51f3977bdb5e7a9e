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

test('wholeMessages passes on the head of a message that is too long, and a head that is cut off', async () => {
  expect((await gathered(envelope(MAX_BYTES + 1), 5))[0]).toEqual(envelope(MAX_BYTES + 1, 0))
  expect(await gathered(envelope(1).subarray(0, 3), 1)).toEqual([envelope(1).subarray(0, 3)])
})

test('wholeMessages gives a body without envelopes at its end, and one that is too long at once', async () => {
  const body = Buffer.alloc(MAX_BYTES, 'x')
  expect(await gathered(body, 1, false)).toEqual([body])
  const longer = Buffer.alloc(3 * MAX_BYTES, 'x')
  expect((await gathered(longer, 1, false))[0]).toEqual(longer.subarray(0, MAX_BYTES + 1))
})

test('wholeMessages takes no message of more than 1,024 chunks', async () => {
  const chunks = inPieces(Buffer.alloc(1025), 1)
  const parts = wholeMessages(chunks, 64 * 1024, false)
  await expect(parts.next()).rejects.toThrow('too many chunks')
})
