import type { CertifyReport } from '../../../packages/cli/src/certify/report.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { TestChain } from '../chain/chain.js'
import { commandLine, startCommandLine } from '../process/command-line.js'

/** What a run is about: the contract and the pair of a test chain. */
type Certified = Pick<TestChain, 'devnet' | 'contracts'>

interface CertifyOptions {
  readonly solver?: Address
  /** Further options of the command. */
  readonly more?: readonly string[]
}

/** The options of `certify` for a swap of 1 WETH. */
export function certifyArguments(
  { devnet, contracts }: Certified,
  { solver, more = [] }: CertifyOptions = {},
): string[] {
  return [
    'certify',
    ...['--input-token', contracts.weth, '--output-token', contracts.usdc, '--amount', String(10n ** 18n)],
    ...['--settlement', contracts.settlement, '--rpc-url', devnet.rpcUrl],
    ...(solver === undefined ? [] : ['--solver', solver]),
    ...more,
  ]
}

/** Certifies an endpoint to the end. */
export async function certifyEndpoint(
  chain: Certified,
  endpointUrl: string,
  solver: Address,
  options: CertifyOptions = {},
) {
  const { more = [] } = options
  const ended = await commandLine(
    certifyArguments(chain, { ...options, solver, more: ['--endpoint', endpointUrl, '--json', ...more] }),
  )
  return { ...ended, report: readReport(ended) }
}

/** Starts `certify --session`. @returns its URL, when it waits for a solver */
export async function startSessionRun(chain: Certified, options: CertifyOptions = {}) {
  const { more = [] } = options
  const run = startCommandLine(
    certifyArguments(chain, { ...options, more: ['--session', '--json', ...more] }),
  )
  const url = await new Promise<string>((resolve, reject) => {
    run.onStderr((text) => {
      const [, found] = /at (http:\S+)\./.exec(text) ?? []
      if (found !== undefined) resolve(found)
    })
    run.ended.then(({ stderr }) => reject(new Error(stderr)))
  })
  return {
    url,
    interrupt: run.interrupt,
    ended: run.ended.then((ended) => ({ ...ended, report: readReport(ended) })),
  }
}

/** For solvers that must pass: a busy machine may answer late. */
export const PATIENT = ['--timeout', '10000']

/** Warnings of these depend on how busy the machine is. So does the one of many requests. */
const TIMED = ['short-deadline', 'go-away']

/** The cases of a report that have not passed, but warnings about time. */
export function troubles({ cases }: CertifyReport) {
  return cases
    .filter(({ status, name, text }) => {
      const isTimed = TIMED.includes(name) || text.includes('Answer within')
      return status === 'fail' || (status === 'warn' && !isTimed)
    })
    .map(({ status, name, text }) => `${status} ${name}: ${text}`)
}

function readReport({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): CertifyReport {
  if (stdout === '') throw new Error(`certify has ended without a report: ${stderr}`)
  return JSON.parse(stdout)
}
