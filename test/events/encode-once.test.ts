import { expect, test, vi } from 'vitest'
import { encodeBatches } from '../../src/events/encode-once.js'
import type { Entry } from '../../src/events/tail-buffer.js'
import { settled } from '../store/events/event-samples.js'

const entries = [1, 2, 3].map(
  (sequence): Entry => ({ sequence, event: settled(1, sequence, 0).event, cursor: `log.${sequence}` }),
)
const [first, second, third] = entries as [Entry, Entry, Entry]

function createShared() {
  const encode = vi.fn((entry: Entry) => Buffer.from(`<${entry.cursor}>`))
  return { encode, bytesOf: encodeBatches(encode) }
}

test('the bytes of a batch are those of its entries, in order', () => {
  const { bytesOf } = createShared()
  expect(bytesOf([first, second, third]).toString()).toBe('<log.1><log.2><log.3>')
  expect(bytesOf([third, first]).toString()).toBe('<log.3><log.1>')
  expect(bytesOf([second]).toString()).toBe('<log.2>')
  expect(bytesOf([])).toHaveLength(0)
})

test('the same batch gives the same buffer again', () => {
  const { bytesOf, encode } = createShared()
  const batch = [first, second]
  const bytes = bytesOf(batch)
  expect(bytesOf(batch)).toBe(bytes)
  expect(encode).toHaveBeenCalledTimes(2)
})

test('an entry is encoded once, whatever batches it is in', () => {
  const { bytesOf, encode } = createShared()
  const texts = [[first, second, third], [second, third], [second], [first, third]].map((batch) =>
    bytesOf(batch).toString(),
  )
  expect(texts).toEqual(['<log.1><log.2><log.3>', '<log.2><log.3>', '<log.2>', '<log.1><log.3>'])
  expect(encode).toHaveBeenCalledTimes(3)
})
