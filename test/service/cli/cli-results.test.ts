import { expect, it } from 'vitest'
import { createAggregatorClient, signOwnResults } from '../../../packages/client/src/index.js'
import { serve } from '../../../packages/client/test/server.js'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { commandLine } from '../../support/process/command-line.js'
import { shared } from '../../support/shared.js'
import { keyOf, startMarket } from '../../support/solver-kit/market.js'

const [account, stranger] = solverAccounts

const market = await shared(startMarket())

const run = (key: string | undefined, ...argv: string[]) =>
  commandLine(['results', '--chain', String(market.chain.chainId), ...argv], {
    environment: {
      AGGREGATOR_URL: market.service.url,
      ...(key !== undefined && { SOLVER_PRIVATE_KEY: key }),
    },
  })

it.each(['a session', 'an endpoint'])(
  "the client and the command line list a solver's results with %s",
  async (way) => {
    const isSession = way === 'a session'
    const own = isSession ? account : stranger
    const { url: endpointUrl } = await serve((request, response) => solver.handler(request, response))
    const solver = market.solver(isSession ? {} : { endpointUrl }, own)
    await solver.start()
    const { chainId } = market.chain
    // Swaps that the solver quotes, and one that it declines.
    await market.quote()
    await market.quote()
    await market.ask({ inputToken: user.address })
    const client = createAggregatorClient({ baseUrl: market.service.url })
    const signed = await signOwnResults(own, { chainId, audience: market.service.url })
    const { results } = await client.listOwnResults(signed)
    expect(results.map(({ result }) => result.outcome)).toEqual(['DECLINED', 'QUOTED', 'QUOTED'])
    expect(results[1]).toMatchObject({ kind: 'FIRM', result: { rank: 1 }, bestAmount: undefined })
    const page = await client.listOwnResults(signed, { pageSize: 1 })
    const next = await client.listOwnResults(signed, { pageSize: 2, pageToken: page.nextPageToken })
    expect([...page.results, ...next.results]).toEqual(results)
    if (isSession)
      await expect.poll(() => solver.metrics()).toMatchObject({ offersValid: 2, offersBest: 2, declined: 1 })

    const table = await run(keyOf(own))
    expect([table.code, table.stderr]).toEqual([0, ''])
    expect(table.stdout).toMatch(/^circuit breaker +CLOSED$/m)
    expect(table.stdout).toMatch(
      /^time +kind +outcome +reason +rank +chosen by +gap +waited for +distance +ms +quote id$/m,
    )
    expect(table.stdout.match(/FIRM +QUOTED +1 +ALL +(?:\d+ +)?yes +\d+ /g)).toHaveLength(2)
    const json = await run(keyOf(own), '--json', '--limit', '2')
    const lines = json.stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).quoteId)).toEqual(
      results.slice(0, 2).map(({ quoteId }) => quoteId),
    )
    expect(json.stderr).toContain('--limit')
    for (const [by, name] of [
      ['pair', /^0x\w+ > 0x\w+ +/],
      ['size', /^from 1000000000000000000 of 0x\w+ +/],
      ['hour', /^20\d\d-.*:00:00 UTC +/],
    ] as const) {
      const [, sums = ''] = (await run(keyOf(own), '--by', by)).stdout.split('\n\n')
      const rows = sums.trimEnd().split('\n').slice(1)
      const sold = rows.find((row) => row.replace(name, '').startsWith(by === 'hour' ? '3 ' : '2 '))
      expect([by, sold]).toEqual([by, expect.stringMatching(name)])
      // An endpoint declines with a status, a session with a code.
      expect([by, rows.join()]).toEqual([by, expect.stringMatching(/ 1 (UNSUPPORTED_PAIR|status 422)/)])
    }
    await solver.close()
  },
)
