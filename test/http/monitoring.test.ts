import Fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { registerMetrics } from '../../src/http/monitoring.js'
import { createManualClock } from '../support/manual-clock.js'
import { only } from '../support/only.js'

it('the text of the metrics is made for a fifth of the time at most, and never before its request', async () => {
  const clock = createManualClock()
  const server = Fastify()
  onTestFinished(() => server.close())
  let runs = 0
  const registry = {
    contentType: 'text/plain',
    async metrics() {
      await clock.sleep(10)
      return `run ${++runs}`
    },
  }
  registerMetrics(server, only({ config: {}, metrics: { registry }, clock }), () => {})
  await server.ready()

  const read = () => server.inject('/metrics').then(({ body }) => body)
  const first = read()
  await expect.poll(() => clock.waiting).toBe(1)
  await clock.advance(10)
  expect(await first).toBe('run 1')
  let answered = ''
  const later = read().then((body) => {
    answered = body
  })
  await expect.poll(() => clock.waiting).toBe(1)
  await clock.advance(49)
  expect(answered).toBe('')
  await clock.advance(1)
  await later
  expect(answered).toBe('run 2')
})
