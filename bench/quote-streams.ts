import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.js'
import { quoteTransports } from '../test/support/streams/quote-stream-clients.js'
import type { Benchmark, Finding, Row } from './benchmark.js'
import type { BuiltService } from './built-service.js'
import { postJson, restCaller } from './callers.js'
import { idleMemory, type Memory, measureBareStreams, perStream, warmUp } from './idle-stream-memory.js'
import { quantile } from './load.js'
import { OPENERS, type OpenStreams, STREAMS } from './many-quote-streams.js'
import { type SolverFixture, startSolverFixture } from './solver-fixture.js'
import { steadyLoad } from './tail.js'

const SOLVERS = 10
const REPEATS = 30
const CANCELLATIONS = 10
const SOFT_DEADLINE_MS = 150
const LATE_MS = 1900
const FASTEST_MS = 30
const OTHERS_MS = 120
/** Of the load of other callers. */
const CALLERS = 100
/** Times without and with streams alternate, because the machine itself differs from one minute to the next. */
const ROUNDS = 3
const SECONDS = 10
/** After streams have opened or ended, so that the garbage of that is not measured. */
const SETTLING_MS = 3000

/** What a stream takes on a bare server, by the name of its kind. */
const LIMITS: Readonly<Record<string, typeof measureBareStreams>> = { gRPC: measureBareStreams }

/** What streams of quotes and soft deadlines bring, and what idle streams cost. */
export const quoteStreams: Benchmark = {
  name: 'quote-streams',
  about:
    `Streams of quotes from ${SOLVERS} solvers: the time of the first offer, of a round with a soft deadline, and of a ` +
    `cancellation; memory of ${STREAMS.toLocaleString('en')} idle streams that refresh, and quotes of others at the same time. ` +
    'The limit of the memory on gRPC is plain Connect on node:http2.',
  async collectMetrics() {
    const fixture = await startSolverFixture(SOLVERS)
    try {
      const parts = [await measureWaiting(fixture), await measureCancellation(fixture)]
      for (const [kind, open] of Object.entries(OPENERS)) parts.push(await measureIdle(fixture, kind, open))
      return {
        rows: parts.flatMap(({ rows }) => rows),
        findings: parts.flatMap(({ findings }) => findings),
      }
    } finally {
      await fixture.stop()
    }
  },
}

interface Part {
  readonly rows: readonly Row[]
  readonly findings: readonly Finding[]
}

async function withService<T>(
  fixture: SolverFixture,
  measure: (service: BuiltService) => Promise<T>,
  environment: Record<string, string> = {},
): Promise<T> {
  const service = await fixture.startService(environment)
  await fixture.register(service.url, 0, SOLVERS)
  try {
    return await measure(service)
  } finally {
    await service.stop()
  }
}

/** The first offer of a stream, and quotes with a soft deadline, while solvers take their time. */
function measureWaiting(fixture: SolverFixture): Promise<Part> {
  const { chain, quoteRequest, endpoints, behave } = fixture
  return withService(fixture, async ({ url }) => {
    for (let solver = 0; solver < SOLVERS; solver++) behave({ solver, delayMs: OTHERS_MS })
    behave({ solver: 0, delayMs: FASTEST_MS })
    behave({ solver: SOLVERS - 1, delayMs: LATE_MS })
    const [{ open }] = quoteTransports as [(typeof quoteTransports)[number]]
    const quotePath = `${url}/v1/${chain.chainId}/quote`
    const times: Record<'soft' | 'solver' | 'first', number[]> = { soft: [], solver: [], first: [] }
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      const { originChainId: _, ...ask } = quoteRequest
      const solverRequest = { ...ask, chainId: chain.chainId, depositDeadline: repeat, fillDeadline: repeat }
      times.solver.push(await timeOf(() => postJson(`${endpoints[0]}/quote`, solverRequest)))
      times.soft.push(
        await timeOf(() => postJson(quotePath, { ...quoteRequest, softDeadlineMs: SOFT_DEADLINE_MS })),
      )
      const leaving = new AbortController()
      times.first.push(
        await timeOf(async () => {
          await open(url, chain.chainId, quoteRequest, leaving.signal)[Symbol.asyncIterator]().next()
        }),
      )
      leaving.abort()
    }
    for (let solver = 0; solver < SOLVERS; solver++) behave({ solver, delayMs: 0 })
    const added = quantile(times.first, 0.5) - quantile(times.solver, 0.5)
    const soft = quantile(times.soft, 0.5)
    return {
      rows: [
        toRow(`a solver that takes ${FASTEST_MS} ms, asked directly`, times.solver),
        toRow('first offer of a stream', times.first),
        toRow(
          `quote with a soft deadline of ${SOFT_DEADLINE_MS} ms, one solver takes ${LATE_MS} ms`,
          times.soft,
        ),
      ],
      findings: [
        { name: 'first offer of a stream after the fastest solver: median, ms', value: added, atMost: 10 },
        {
          name: `quote with a soft deadline of ${SOFT_DEADLINE_MS} ms: median, ms`,
          value: soft,
          atMost: 170,
        },
      ],
    }
  })
}

/** From a client's leaving until a solver that does not answer sees its request end. */
async function measureCancellation(fixture: SolverFixture): Promise<Part> {
  const { chain, quoteRequest } = fixture
  const hanging = await startHangingSolver()
  try {
    return await withService(fixture, async ({ url }) => {
      await fixture.registerAt(url, SOLVERS - 1, hanging.endpointUrl)
      const rows: Row[] = []
      const findings: Finding[] = []
      for (const { name, open } of quoteTransports) {
        const times: number[] = []
        for (let repeat = 0; repeat < CANCELLATIONS; repeat++) {
          const leaving = new AbortController()
          const asked = hanging.nextRequest()
          const reading = readUntilEnd(open(url, chain.chainId, quoteRequest, leaving.signal))
          const { closed } = await asked
          times.push(
            await timeOf(async () => {
              leaving.abort()
              await closed
            }),
          )
          await reading
        }
        const what = `cancellation over ${name}`
        rows.push(toRow(what, times))
        findings.push({ name: `${what}: median, ms`, value: quantile(times, 0.5), atMost: 50 })
      }
      return { rows, findings }
    })
  } finally {
    hanging.server.close()
    hanging.server.closeAllConnections()
  }
}

/** A solver that never answers. */
async function startHangingSolver() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    server,
    endpointUrl: `http://127.0.0.1:${port}`,
    /** Resolves with the next request. Its `closed` resolves when it ends. */
    async nextRequest(): Promise<{ readonly closed: Promise<unknown> }> {
      const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
      return { closed: once(response, 'close') }
    },
  }
}

async function readUntilEnd(messages: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of messages);
  } catch {
    // The client has left.
  }
}

/** The memory of idle streams, and quotes of others before and during them. */
async function measureIdle(fixture: SolverFixture, kind: string, open: OpenStreams): Promise<Part> {
  const inspectorPort = await freePort()
  const limit = await LIMITS[kind]?.(fixture, open)
  const measure = async ({ url, pid }: BuiltService): Promise<Part> => {
    const body = fixture.quoteRequest
    const quoteUrl = `${url}/v1/${fixture.chain.chainId}/quote`
    const callers = Array.from({ length: CALLERS }, () => restCaller({ url: quoteUrl, body }))
    const memory = () => idleMemory(pid, inspectorPort)
    await warmUp(url, fixture, open)
    const before = await memory()
    const leaveFirst = await open(url, fixture)
    const each = perStream(before, await memory())
    await leaveFirst()
    const alone: number[] = []
    const during: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(...(await steadyLoad(callers, SECONDS)))
      const leave = await open(url, fixture)
      await delay(SETTLING_MS)
      during.push(...(await steadyLoad(callers, SECONDS)))
      await leave()
      await delay(SETTLING_MS)
    }
    await Promise.all(callers.map((caller) => caller.close()))
    const [p99Alone, p99During] = [quantile(alone, 0.99), quantile(during, 0.99)]
    const streams = `${STREAMS.toLocaleString('en')} idle streams (${kind})`
    return {
      rows: [
        toRow(`quotes of others without streams (${kind})`, alone),
        { ...toRow(`quotes of others during ${streams}`, during), ...toColumns(each, limit) },
        ...(limit === undefined ? [] : [{ what: `limit for ${streams}`, ...toColumns(limit, limit) }]),
      ],
      findings: [
        { name: `${streams}: memory (RSS) of each, KB`, value: each.resident / 1000, atMost: 20 },
        {
          name: `${streams}: p99 of quotes of others beyond that without, ms`,
          value: p99During - p99Alone,
          atMost: 5,
        },
      ],
    }
  }
  return withService(fixture, measure, { NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` })
}

async function timeOf(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await action()
  return performance.now() - start
}

const rounded = (value: number) => Math.round(value * 10) / 10

/**
 * The ratio is that of the heaps. The RSS of a bare server, which has had no load, has room for streams before they come.
 * @param limit the memory of each stream of a bare server, if there is one
 */
function toColumns({ heap, resident }: Memory, limit: Memory | undefined): Row {
  return {
    'heap KB per stream': rounded(heap / 1000),
    'RSS KB per stream': rounded(resident / 1000),
    ...(limit === undefined ? {} : { 'heap relative to the limit': heap / limit.heap }),
  }
}

function toRow(what: string, times: readonly number[]): Row {
  const at = (part: number) => rounded(quantile(times, part))
  return { what, times: times.length, 'median ms': at(0.5), 'p99 ms': at(0.99), 'longest ms': at(1) }
}
