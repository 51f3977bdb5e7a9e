import { expect, test } from 'vitest'
import { createKeyedQueue } from '../../src/concurrency/keyed-queue.js'
import { deferred } from '../support/deferred.js'

test('work of one key runs in the order of the calls, and does not wait for other keys', async () => {
  const queue = createKeyedQueue<string>()
  const [first, started] = [deferred(), deferred()]
  const ran: string[] = []
  const one = queue.run('a', async () => {
    started.open()
    await first.opened
    ran.push('a1')
  })
  const two = queue.run('a', async () => void ran.push('a2'))
  await started.opened
  expect(await queue.run('b', async () => ran.push('b'))).toBe(1)
  first.open()
  await Promise.all([one, two])
  expect(ran).toEqual(['b', 'a1', 'a2'])
})

test('work that fails rejects only its own call', async () => {
  const queue = createKeyedQueue<string>()
  const failed = queue.run('a', () => Promise.reject(new Error('the disk is full')))
  const next = queue.run('a', async () => 'done')
  await expect(failed).rejects.toThrow('the disk is full')
  expect(await next).toBe('done')
})

test('the queue is idle after the work of all keys', async () => {
  const queue = createKeyedQueue<string>()
  const work = deferred()
  const ran: string[] = []
  for (const key of ['a', 'b'])
    void queue.run(key, async () => {
      await work.opened
      ran.push(key)
    })
  work.open()
  await queue.idle()
  expect(ran).toEqual(['a', 'b'])
})
