import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { afterReading } from '../../src/concurrency/process-pauses.js'
import { openSocket, startMultiplexer } from '../http/port/multiplexer-server.js'

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
