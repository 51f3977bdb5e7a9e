import { startChain } from '../service/chain.js'
import { startChild } from '../service/child-process.js'
import { deployLoudSettlement } from '../service/loud-settlement.js'
import { environmentFor } from '../service/service.js'

export type LoudChain = Awaited<ReturnType<typeof startLoudChain>>

/** A chain whose settlement contract emits events at will. */
export async function startLoudChain() {
  const chain = await startChain({ bonded: 0 })
  const loud = await deployLoudSettlement(chain.devnet, chain.contracts.bondToken)
  const contracts = { ...chain.contracts, settlement: loud.address }
  return { ...chain, contracts, shout: loud.shout }
}

/** The service as it is run, built, in a process of its own. */
export async function startBuiltService(chain: LoudChain, environment: Record<string, string> = {}) {
  const child = startChild(process.execPath, ['--max-semi-space-size=8', 'dist/src/main.js'], {
    ...environmentFor(chain),
    LOG_LEVEL: 'info',
    ...environment,
  })
  const [, url = ''] = await child.waitFor(/"url":"([^"]+)"/)
  return {
    url,
    async metric(name: string): Promise<number> {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(new RegExp(`^${name}(?:\\{.*\\})? (.*)$`, 'm').exec(text)?.[1])
    },
    async stop() {
      child.signal('SIGTERM')
      await child.exited
    },
  }
}

/** Median and 99th percentile. */
export function quantiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part: number) =>
    Math.round((sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN) * 10) / 10
  return { median: at(0.5), p99: at(0.99) }
}
