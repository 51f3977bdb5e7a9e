import { expect, test } from 'vitest'
import { createSerialQueue } from '../../src/concurrency/serial-queue.js'
import { deferred } from '../support/deferred.js'

const nextTurn = () => new Promise(setImmediate)

test('a serial queue starts work only when the work before it has ended', async () => {
  const queue = createSerialQueue()
  const { opened, open } = deferred()
  const steps: string[] = []
  const results = [
    queue.run(async () => {
      steps.push('first begins')
      await opened
      steps.push('first ends')
      return 1
    }),
    queue.run(() => {
      steps.push('second begins')
      return 2
    }),
  ]
  await nextTurn()
  expect(steps).toEqual(['first begins'])

  open()
  expect(await Promise.all(results)).toEqual([1, 2])
  expect(steps).toEqual(['first begins', 'first ends', 'second begins'])
})

test('a serial queue continues after work that fails', async () => {
  const queue = createSerialQueue()
  const failed = queue.run(() => Promise.reject(new Error('the disk is full')))
  const next = queue.run(() => 'written')
  await expect(failed).rejects.toThrow('the disk is full')
  expect(await next).toBe('written')
})

test('a serial queue is idle when its last work has ended, also when that fails', async () => {
  const queue = createSerialQueue()
  const { opened, open } = deferred()
  let isIdle = false
  const failed = queue.run(() => opened.then(() => Promise.reject(new Error('the disk is full'))))
  const idle = queue.idle().then(() => {
    isIdle = true
  })
  await nextTurn()
  expect(isIdle).toBe(false)

  open()
  await expect(failed).rejects.toThrow('the disk is full')
  await idle
})

test('work of one key runs in the order of the calls, and does not wait for other keys', async () => {
  const queue = createSerialQueue()
  const [first, started] = [deferred(), deferred()]
  const ran: string[] = []
  const one = queue.run(async () => {
    started.open()
    await first.opened
    ran.push('a1')
  }, 'a')
  const two = queue.run(() => void ran.push('a2'), 'a')
  await started.opened
  expect(await queue.run(() => ran.push('b'), 'b')).toBe(1)
  first.open()
  await Promise.all([one, two])
  expect(ran).toEqual(['b', 'a1', 'a2'])
})
