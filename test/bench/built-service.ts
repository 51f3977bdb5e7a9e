import type { TestChain } from '../service/chain.js'
import { startChild } from '../service/child-process.js'
import { environmentFor } from '../service/service.js'

/** Limits that count every request, as wide as they may be. */
const WIDE_LIMITS = Object.fromEntries(
  ['MAX', 'QUOTE', 'ORDER', 'REGISTER', 'UNREGISTER', 'SOLVERS'].map((name) => [
    `RATE_LIMIT_${name}`,
    '1000000',
  ]),
)

export type BuiltService = Awaited<ReturnType<typeof startBuiltService>>

/** The service as it is run, built, in a process of its own, with the limits and the log that it has by itself. */
export async function startBuiltService(
  chain: Pick<TestChain, 'chainId' | 'devnet' | 'contracts'>,
  environment: Record<string, string> = {},
) {
  const child = startChild(process.execPath, ['--max-semi-space-size=8', 'dist/main.js'], {
    ...environmentFor(chain),
    ...WIDE_LIMITS,
    ...environment,
  })
  const [, url = ''] = await child.waitFor(/"url":"([^"]+)"/)

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(new RegExp(`^${name}(?:\\{.*\\})? (.*)$`, 'm').exec(text)?.[1])
  }

  return {
    url,
    socketUrl: `${url.replace('http', 'ws')}/v1/ws`,
    pid: child.child.pid ?? 0,
    metric,
    cpuSeconds: () => metric('process_cpu_seconds_total'),
    async stop() {
      child.signal('SIGTERM')
      await child.exited
    },
  }
}
