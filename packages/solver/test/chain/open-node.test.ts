import { custom } from 'viem'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../../test/support/eventually.js'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { type Asked, type HttpAnswer, sendJson, startHttpNode } from '../../../chain/test/nodes.js'
import { openNode } from '../../src/chain/open-node.js'
import { inPlace } from '../../src/chain/pacing.js'

const TO = `0x${'0a'.repeat(20)}` as const

/** A client whose node answers with 0x1 after these answers, in turn. */
async function start(...answers: HttpAnswer[]) {
  const node = await startHttpNode((...exchange) => {
    const answer = answers.shift()
    if (answer !== undefined) return answer(...exchange)
    const [response, asked] = exchange
    return sendJson(response, { id: (asked as Asked).id, result: '0x1' })
  })
  const clock = createManualClock()
  const { client, close } = openNode(node.url, clock)
  onTestFinished(close)
  return { node, clock, client }
}

const status =
  (code: number): HttpAnswer =>
  (response) =>
    response.writeHead(code).end()

it.each<[string, HttpAnswer, number]>([
  ['status 500', status(500), 150],
  ['status 429', status(429), 1000],
  ['a lost connection', (response) => response.destroy(), 150],
  ['no JSON', (response) => response.end('<html>'), 150],
])('a call that fails by %s is made again after a pause', async (_how, answer, pauseMs) => {
  const { node, clock, client } = await start(answer, ...(pauseMs === 150 ? [answer] : []))
  let chainId: number | undefined
  const asking = client.getChainId().then((answer) => {
    chainId = answer
  })
  // A timer waits for an answer, or for the pause.
  await eventually(
    async () => {
      await clock.advance(100)
      return chainId
    },
    (answer) => answer !== undefined,
  )
  await asking
  expect([chainId, node.sizes().length]).toEqual([1, pauseMs === 150 ? 3 : 2])
})

it('a revert is not asked for again, and has its data', async () => {
  const error = { code: 3, message: 'execution reverted', data: '0x08c379a0' }
  const { node, client } = await start((response, asked) =>
    sendJson(response, { id: (asked as Asked).id, error }),
  )
  const failure = await client.call({ to: TO, data: '0x' }).catch((reason) => reason)
  expect(failure.walk((cause: unknown) => (cause as { data?: unknown }).data === error.data)).not.toBeNull()
  expect(node.sizes()).toEqual([1])
})

it("a market maker's own transport makes the calls, and nothing repeats them", async () => {
  let calls = 0
  async function request() {
    calls++
    if (calls === 1) throw new Error('down')
    return '0x1'
  }
  const { client } = openNode(custom({ request }, { retryCount: 0 }), createManualClock())
  await expect(client.getChainId()).rejects.toThrow('down')
  expect([await client.getChainId(), calls]).toEqual([1, 2])
})

it('where a node limits the rate of calls, payments go first, and what may wait is not left out', async () => {
  const clock = createManualClock()
  const asked: string[] = []
  let taken = 0
  async function request({ params: [name] = [''] }: { method: string; params?: string[] }) {
    if (clock.monotonic() === 0 && ++taken > 5) throw Object.assign(new Error('slow down'), { code: 429 })
    if (clock.monotonic() > 0) asked.push(name ?? '')
    return '0x1'
  }
  const { client, callsPerSecond } = openNode(custom({ request }, { retryCount: 0 }), clock)
  const call = (name: string) => client.request({ method: 'eth_call', params: [name] } as never)
  const first = Promise.all(Array.from({ length: 10 }, (_, index) => call(`first ${index}`)))
  await clock.advance(500)
  const later = inPlace('LATER', () => call('later'))
  const reads = Array.from({ length: 6 }, (_, index) => call(`read ${index}`))
  const payments = inPlace('PAY', () => Array.from({ length: 6 }, (_, index) => call(`pay ${index}`)))
  await clock.advance(499)
  expect([callsPerSecond(), asked]).toEqual([5, []])
  await clock.advance(1)
  expect(asked).toHaveLength(5)
  expect(asked.filter((name) => name.startsWith('pay')).length).toBeGreaterThan(2)
  await clock.advance(4_000)
  await Promise.all([first, later, ...reads, ...payments])
  expect(new Set(asked).size).toBe(asked.length)
})
