import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../packages/protocol/src/clock.js'
import { toRequestBody } from '../../packages/protocol/src/signing/quote-request.js'
import { REPLICA_UNREACHABLE } from '../../packages/protocol/src/solvers/solver-result.js'
import type { ReplicaMessage } from '../../src/sessions/relayed-requests.js'
import { openReplicaRelay } from '../../src/sessions/remote-sessions.js'
import { createLog } from '../../src/telemetry/log.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { solver } from '../solvers/sample-solver.js'
import { listen } from '../support/listen.js'
import { only } from '../support/only.js'
import { exactInput } from '../support/solvers/sample-quotes.js'

test('a round and its results go to 401 solvers of one replica in messages of at most 200', async () => {
  const sizes: [string, number][] = []
  const server = createServer(async (request, response) => {
    const message = (await json(request)) as ReplicaMessage
    if (message.type === 'quoteRequest') sizes.push([message.type, message.solvers.length])
    if (message.type === 'results') sizes.push([message.type, message.results.length])
    response.end()
  })
  const { url } = await listen(server)
  const { sessions, close } = openReplicaRelay(
    only({ config: { chains: [] }, metrics: createMetrics(), log: createLog('silent'), clock: systemClock }),
    only({ key: Buffer.alloc(32) }),
    only({ addListener: () => {}, registered: () => [], setReplicaAsked() {} }),
  )
  onTestFinished(async () => {
    await close()
    server.close()
  })
  const solvers = Array.from({ length: 401 }, (_, index) =>
    solver(index, { remoteSession: { id: String(index), replicaId: 'other', replicaUrl: url } }),
  )
  const body = Buffer.from(JSON.stringify(toRequestBody(exactInput)))
  const request = { request: exactInput, body, deadline: Date.now() + 60_000 }
  const replies = solvers.map((each, index) =>
    sessions.requestQuote(each, request, new AbortController().signal, { quoteId: String(index) }),
  )
  for (const [index, each] of solvers.entries())
    sessions.reportResult(each, String(index), only({ outcome: 'LATE' }))
  // The other replica does not name any solver in its answer.
  expect(new Set(await Promise.all(replies))).toEqual(new Set([REPLICA_UNREACHABLE]))
  const messages = ['quoteRequest', 'results'].flatMap((type) => [200, 200, 1].map((size) => [type, size]))
  await expect.poll(() => sizes).toHaveLength(messages.length)
  expect(sizes).toEqual(expect.arrayContaining(messages))
})
