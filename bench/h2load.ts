import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Benchmark, NotRunError, type Result, type Row } from './benchmark.js'
import { type PreparedRequest, restCaller } from './callers.js'
import { expectOffers } from './expect-offers.js'
import {
  ABOUT_RATIOS,
  columnsOf,
  compareRounds,
  compete,
  type LoadResult,
  type Score,
  throughputRatio,
} from './load.js'
import { readTimes } from './process-times.js'
import { type SolverFixture, startSolverFixture } from './solver-fixture.js'

const CONNECTIONS = 16
const ROUNDS = { rounds: 11, seconds: 0.5 }
const AGREEMENT = { atLeast: 0.85, atMost: 1.15 }
/** What h2load prints when it has answers, and all of them are 2xx. */
const ALL_2XX = /, 0 failed, 0 errored, 0 timeout\nstatus codes: [1-9]\d* 2xx, 0 3xx, 0 4xx, 0 5xx\n/

const run = promisify(execFile)

/** The callers of the other benchmarks beside a load generator of another project. */
export const h2load: Benchmark = {
  name: 'h2load',
  about:
    `The same requests over ${CONNECTIONS} connections by the callers of the other benchmarks (undici) and by h2load of nghttp2. ` +
    'Each connection sends its next request after an answer. A request costs h2load a fraction of the CPU that it costs the ' +
    'callers, and clients share the cores with the service. That shows in reads, which cost the service as little as the ' +
    'callers, and hardly in quotes. ' +
    ABOUT_RATIOS,
  async collectMetrics() {
    await expectInstalled()
    const folder = await mkdtemp(join(tmpdir(), 'bench-'))
    const fixture = await startSolverFixture(1)
    try {
      return await measureOn(fixture, folder)
    } finally {
      await fixture.stop()
      await rm(folder, { recursive: true })
    }
  },
}

async function expectInstalled(): Promise<void> {
  try {
    await run('h2load', ['--version'])
  } catch {
    throw new NotRunError('there is no h2load, which is in the package nghttp2-client of Debian.')
  }
}

async function measureOn(fixture: SolverFixture, folder: string): Promise<Result> {
  const { url, cpuSeconds } = await fixture.startService()
  await fixture.register(url, 0, 1)
  const chains = { url: `${url}/v1/chains` }
  const quotes = { url: `${url}/v1/${fixture.chain.chainId}/quote`, body: fixture.quoteRequest }
  await expectOffers(quotes.url, quotes.body, 1)
  const measure = async (request: PreparedRequest) => {
    const cpu = { cpuSeconds, otherCpuSeconds: clientCpuSeconds }
    const callers = Array.from({ length: CONNECTIONS }, () => restCaller(request))
    const load = await prepareH2load(request, folder)
    return await compete({ callers: { callers, ...cpu }, h2load: { callers: [], load, ...cpu } }, ROUNDS)
  }
  const reads = await measure(chains)
  const readsOverHttp2 = await measure({ ...chains, isHttp2: true })
  const posts = await measure(quotes)
  return {
    rows: [
      ...rowsOf('GET /v1/chains, HTTP/1.1', reads),
      ...rowsOf('GET /v1/chains, HTTP/2', readsOverHttp2),
      ...rowsOf('POST /v1/{chainId}/quote, one solver, HTTP/1.1', posts),
    ],
    findings: [
      {
        name: 'h2load: quotes/s relative to the callers',
        value: throughputRatio(posts.h2load, posts.callers),
        ...AGREEMENT,
      },
      {
        name: "h2load: the service's CPU of a quote relative to that with the callers",
        value: compareRounds(posts.h2load, posts.callers, (own, other) => own.cpuMs / other.cpuMs),
        ...AGREEMENT,
      },
    ],
  }
}

/** The CPU time of this process, which has the callers, and of each h2load that has ended. */
function clientCpuSeconds(): number {
  return readTimes(process.pid)?.cpuSeconds ?? Number.NaN
}

/** @returns the load of a contestant. It throws an Error when a request fails or an answer is not 2xx. */
async function prepareH2load({ url, body, isHttp2 = false }: PreparedRequest, folder: string) {
  const [log, bodyFile] = [join(folder, 'log'), join(folder, 'body')]
  const args = ['--clients', String(CONNECTIONS), '--log-file', log]
  if (!isHttp2) args.push('--h1')
  if (body !== undefined) {
    await writeFile(bodyFile, JSON.stringify(body))
    args.push('--data', bodyFile, '--header', 'content-type: application/json')
  }
  return async (seconds: number): Promise<LoadResult> => {
    const { stdout } = await run('h2load', [...args, '--duration', `${seconds * 1000}ms`, url])
    if (!ALL_2XX.test(stdout)) throw new Error(`h2load of ${url}:\n${stdout}`)
    const result = readLog(await readFile(log, 'utf8'))
    // h2load appends to its log.
    await rm(log)
    return result
  }
}

/** Reads a line for each answer: microseconds of its start, HTTP status, microseconds until its end. */
function readLog(log: string): LoadResult {
  const lines = log
    .trim()
    .split('\n')
    .map((line) => line.split('\t').map(Number))
  const starts = lines.map(([start = Number.NaN]) => start)
  const ends = lines.map(([start = Number.NaN, , duration = Number.NaN]) => start + duration)
  return {
    calls: lines.length,
    seconds: (Math.max(...ends) - Math.min(...starts)) / 1e6,
    latencies: lines.map(([, , duration = Number.NaN]) => duration / 1000),
  }
}

function rowsOf(request: string, scores: Readonly<Record<'callers' | 'h2load', Score>>): Row[] {
  return Object.entries<Score>(scores).map(([client, score]) => ({
    request,
    client,
    ...columnsOf(score, scores.callers, 'answer'),
    ...(Number.isNaN(score.otherCpuMs) ? {} : { "client's CPU ms": score.otherCpuMs }),
  }))
}
