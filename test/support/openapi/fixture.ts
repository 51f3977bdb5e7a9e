import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { openOperatorStores } from '../../../src/store/operator/open-operator-stores.js'
import { solverAccounts, type TestChain } from '../chain/chain.js'
import { createTraffic } from '../chain/event-traffic.js'
import { startPostgres } from '../databases/postgres.js'
import { startModelChain } from '../model-chain/start-model-chain.js'
import { environmentFor, startService } from '../service/service.js'
import { honest, startSolver } from '../solvers/solver.js'

/** A chain of the service whose node does not answer. */
export const DEAD_CHAIN = 4242
/** A chain that the service does not know. */
export const UNKNOWN_CHAIN = 1
/** The origin of the service with every error, which runs in production. */
export const PUBLIC_URL = 'https://quotes.example'
/** For the metrics of the service with tight limits. */
export const METRICS_AUTH = 'operator:secret'
/** What each solver offers for 1 WETH. */
export const OFFERS = { best: honest({ output: '2498750000' }), other: honest({ output: '2497000000' }) }
const NOBODY = 'http://127.0.0.1:9'
/** More requests than any test sends. */
export const PLENTY = '1000000'
const LIMITS = ['MAX', 'QUOTE', 'PRICE', 'ORDER', 'REGISTER', 'UNREGISTER', 'SOLVERS', 'RESULTS', 'STREAMS']

/** The variables with the limits of all kinds of requests. */
export const limits = (value: string) =>
  Object.fromEntries(LIMITS.map((name) => [`RATE_LIMIT_${name}`, value]))

export type OpenApiFixture = Awaited<ReturnType<typeof startOpenApiFixture>>

/**
 * A chain with two solvers and three services: one for every error, one that accepts one request of each
 * kind, and one whose database can be killed.
 */
export async function startOpenApiFixture() {
  const [chain, database] = await Promise.all([startModelChain({ bonded: 3 }), startPostgres()])
  const traffic = await createTraffic(chain, { seed: 1 })
  const folder = mkdtempSync(join(tmpdir(), 'quote-aggregator-'))
  const tokenList = join(folder, 'tokens.json')
  writeFileSync(tokenList, JSON.stringify(tokenListOf(chain)))
  const dead = { ...chain, chainId: DEAD_CHAIN, devnet: { ...chain.devnet, rpcUrl: NOBODY } }
  const chains = {
    ...environmentFor(dead),
    ...environmentFor(chain),
    SUPPORTED_CHAINS: `${chain.chainId},${DEAD_CHAIN}`,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
    [`TOKEN_LIST_${chain.chainId}`]: tokenList,
  }
  const clock = { isBroken: false }
  const now = () => {
    if (clock.isBroken) throw new Error('the clock is broken')
    return Date.now()
  }
  const strict = {
    NODE_ENV: 'production',
    SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1',
    MAX_SOLVERS_PER_CHAIN: '2',
    MAX_STREAM_CLIENTS: '1',
    MAX_CONNECTIONS_PER_SOLVER: '1',
    PUBLIC_URLS: PUBLIC_URL,
  }
  const log = pino({ level: 'silent' })
  const [service, tight, shared] = await Promise.all([
    startService(chain, { ...chains, ...strict, ...limits(PLENTY) }, { clock: { ...systemClock, now }, log }),
    startService(chain, { ...limits('1'), METRICS_AUTH, QUOTE_RECORD_HOURS: '0' }, { log }),
    startService(chain, { ...limits(PLENTY), DATABASE_URL: database.url }, { log }),
  ])
  const [best, other] = await Promise.all([
    startSolver(chain, solverAccounts[0], OFFERS.best),
    startSolver(chain, solverAccounts[1], OFFERS.other),
  ])

  return {
    chain,
    traffic,
    service,
    tight,
    shared,
    /** A service that asks for API keys, and whose only chain has no node that answers. */
    startUnready: () => startService(dead, { ...limits(PLENTY), REQUIRE_API_KEY: 'all' }, { log }),
    /** Blocks an address on every chain of `shared`, as its operator would. */
    async bar(address: Address) {
      const { lists, close } = await openOperatorStores({ dbPath: '', databaseUrl: database.url })
      await lists.blocked.add({ address, chainId: undefined, listedAt: Date.now() })
      await close()
    },
    /** Ends the database of `shared`, which continues without it. */
    killDatabase: database.kill,
    best,
    other,
    /** Makes the service's clock fail while `run` runs. */
    async withBrokenClock<T>(run: () => Promise<T>): Promise<T> {
      clock.isBroken = true
      try {
        return await run()
      } finally {
        clock.isBroken = false
      }
    },
    async close() {
      await service.close()
      await tight.close()
      await shared.close()
      await database.stop()
      await best.close()
      await other.close()
      await chain.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

/** A list with one of the tokens. */
function tokenListOf({ chainId, contracts }: TestChain) {
  const logoURI = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>'
  return { tokens: [{ chainId, address: contracts.weth, symbol: 'WETH', decimals: 18, logoURI }] }
}
