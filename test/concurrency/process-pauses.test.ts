import { once } from 'node:events'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { afterReading, createPauseMeter, type PauseMeter } from '../../src/concurrency/process-pauses.js'
import { openSocket, startMultiplexer } from '../http/port/multiplexer-server.js'
import { createManualClock, type ManualClock } from '../support/manual-clock.js'

let clock: ManualClock
let pauseMeter: PauseMeter

beforeEach(() => {
  clock = createManualClock()
  pauseMeter = createPauseMeter(clock)
})

test('a process that runs does not stand still, also when its timers are late under load', async () => {
  const watch = pauseMeter.watch()
  await clock.advance(2000)
  for (let turn = 0; turn < 10; turn++) {
    clock.standStill(200)
    await clock.advance(0)
  }
  expect(watch.pausedMs()).toBe(0)
})

test('a pause is measured before the timer has noticed it, and once', async () => {
  const watch = pauseMeter.watch()
  await clock.advance(100)
  clock.standStill(2050)
  expect(watch.pausedMs()).toBe(2000)
  await clock.advance(100)
  expect(watch.pausedMs()).toBe(2000)
})

test('pauses add up, and those before a watch do not count for it', async () => {
  const first = pauseMeter.watch()
  clock.standStill(550)
  const second = pauseMeter.watch()
  await clock.advance(100)
  clock.standStill(350)
  expect([first.pausedMs(), second.pausedMs()]).toEqual([800, 300])
})

test('the time between two watches is no pause, and takes no timer', () => {
  pauseMeter.watch().end()
  expect(clock.waiting).toBe(0)
  clock.standStill(10_000)
  expect(pauseMeter.watch().pausedMs()).toBe(0)
})

test('what came while the process was paused is read before the action, although its timer is due', async () => {
  const { number, server } = await startMultiplexer()
  const opened = once(server, 'connection')
  const { socket } = await openSocket(number)
  const [accepted] = await opened
  onTestFinished(() => void accepted.destroy())
  const readBy = new Promise<number[]>((resolve) => {
    setTimeout(() => {
      const atTimer = accepted.bytesRead
      void afterReading(() => resolve([atTimer, accepted.bytesRead]))
    }, 1)
  })
  socket.write('GET')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  expect(await readBy).toEqual([0, 3])
})
