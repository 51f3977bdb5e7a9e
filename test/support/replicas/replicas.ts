import { onTestFinished } from 'vitest'
import type { AppOverrides } from '../../../src/app/app.js'
import type { TestChain } from '../chain/chain.js'
import { makeDatabase } from '../databases/postgres-database.js'
import { startService, type TestService } from '../service/service.js'

type Chain = Pick<TestChain, 'chainId' | 'devnet' | 'contracts'>

/**
 * Makes an empty database for a test. After the test everything given to `closing` is closed, and the
 * database dropped.
 */
export async function openReplicas(chain: Chain) {
  const { url, drop } = await makeDatabase()
  const opened: { close(): unknown }[] = []
  onTestFinished(async () => {
    for (const { close } of opened.toReversed()) await close()
    await drop()
  })

  return {
    databaseUrl: url,
    /** Closes something after the test, before what was given earlier. */
    closing<T extends { close(): unknown }>(one: T): T {
      opened.push(one)
      return one
    },
    /** Starts one more replica in this process. The first one becomes the leader of the chain. */
    async start(
      environment: Record<string, string> = {},
      overrides: AppOverrides = {},
    ): Promise<TestService> {
      const variables = { DATABASE_URL: url, [`POLL_INTERVAL_MS_${chain.chainId}`]: '50', ...environment }
      return this.closing(await startService(chain, variables, overrides))
    },
  }
}

/** Three replicas in this process. The first one is the leader of the chain. */
export async function startReplicas(chain: Chain, environment: Record<string, string> = {}) {
  const replicas = await openReplicas(chain)
  const first = await replicas.start(environment)
  const second = await replicas.start(environment)
  const third = await replicas.start(environment)
  return { databaseUrl: replicas.databaseUrl, services: [first, second, third] as const }
}
