import type { Command } from 'commander'
import type { PublicClient } from 'viem'
import { wordsOf } from '../../../protocol/src/node/node-words.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import { readAddress, readInteger, readPort, readUnits } from '../arguments.js'
import { readUrl } from '../called-instance.js'
import type { CertifyHost } from '../certify/certify-host.js'
import type { StandingSource } from '../certify/read-standing.js'
import type { CertifyReport } from '../certify/report.js'
import type { SigningTerms } from '../certify/signing-terms.js'
import { badInput, CommandFailure, unavailable } from '../command-failure.js'
import { EXIT } from '../exit-codes.js'
import type { CliIo } from '../io.js'
import { renderReport } from '../output/certify-view.js'
import { printResult } from '../output/print-result.js'

interface Options {
  readonly endpoint?: string
  readonly session?: boolean
  readonly host: string
  readonly port: number
  readonly wait: number
  readonly solver?: Address
  readonly inputToken: Address
  readonly outputToken: Address
  readonly amount: bigint
  readonly settlement: Address
  readonly rpcUrl: string
  readonly protocolName: string
  readonly timeout: number
  readonly instance?: string
  readonly keyFile?: string
  readonly json?: boolean
}

const MAX_TIMEOUT_MS = 60_000
const MAX_WAIT_SECONDS = 3600

const MORE_HELP = `
It needs no instance and no bond. Each line of the report: pass, warn or FAIL, the name of the case, its time, what was found,
what to do. warn: it works, and costs you something. FAIL: exit code 5; an instance would drop replies.

The solver may count the quotes as promised until they expire. Run it without other users: one case sends 200 requests.

Example; docs/solvers.md has more:
  quote-aggregator certify --endpoint http://localhost:4000 --solver 0x… --input-token 0x… --output-token 0x… \\
    --amount 1000000 --settlement 0x… --rpc-url http://localhost:8545`

/**
 * `certify`: checks a solver before it registers.
 * @param loadHost loads the parts of the service that ask a solver
 */
export function addCertify(program: Command, io: CliIo, loadHost: () => Promise<CertifyHost>): void {
  program
    .command('certify')
    .description(
      'Checks a solver at its endpoint, or on a session that it opens here, with the code by which an instance drops replies.',
    )
    .option('--endpoint <url>', "the solver's base URL: certify posts to <url>/quote")
    .option('--session', 'wait for a session of the solver, by WebSocket or gRPC')
    .option('--host <address>', 'with --session: where to listen', '127.0.0.1')
    .option('--port <port>', 'with --session: the port; 0 takes a free one', readPort, 0)
    .option(
      '--wait <seconds>',
      'with --session: how long the solver may take to connect',
      readInteger(1, MAX_WAIT_SECONDS),
      60,
    )
    .option(
      '--solver <address>',
      "the solver's address; with --session, the first that connects when left out",
      readAddress,
    )
    .requiredOption('--input-token <token>', 'token that the user sells', readAddress)
    .requiredOption('--output-token <token>', 'token that the user buys', readAddress)
    .requiredOption('--amount <number>', 'how much to sell, in the smallest unit', readUnits)
    .requiredOption(
      '--settlement <address>',
      'the settlement contract, for which the solver signs',
      readAddress,
    )
    .requiredOption('--rpc-url <url>', 'a node, which reads the contract')
    .option('--protocol-name <name>', "the instance's PROTOCOL_NAME: the struct is <name>Quote", 'Service')
    .option('--timeout <ms>', 'time for a reply', readInteger(1, MAX_TIMEOUT_MS), 2000)
    .option('--instance <url>', 'an instance that asks the solver: reads what it has learned of the solver')
    .option('--key-file <path>', "with --instance: file with the solver's private key; - is standard input")
    .option('--json', 'one JSON object on standard output')
    .addHelpText('after', MORE_HELP)
    .action((options: Options) => certify(io, options, loadHost))
}

async function certify(io: CliIo, options: Options, loadHost: () => Promise<CertifyHost>): Promise<void> {
  const signal = io.interruption()
  const report = await runCases(io, options, loadHost, signal)
  await printResult(io, options, report, (display) => renderReport(report, display))
  const { failed, notRun } = report
  if (signal.aborted && notRun.length > 0) throw new CommandFailure(EXIT.interrupted)
  if (report.ok) return
  const missing = notRun.length > 0 ? ` Correct this first: ${notRun.length} were not run.` : ''
  throw new CommandFailure(EXIT.unhealthy, `${failed} failed: each FAIL says what to do.${missing}`)
}

/** Runs the cases at the endpoint, or on a session that the solver opens. */
async function runCases(
  io: CliIo,
  options: Options,
  loadHost: () => Promise<CertifyHost>,
  signal: AbortSignal,
): Promise<CertifyReport> {
  const { endpoint: url, session, solver, timeout: timeoutMs } = options
  if ((url === undefined) === (session !== true)) throw badInput('Name either --endpoint or --session.')
  if (url !== undefined) readUrl('--endpoint', url)
  if (url !== undefined && solver === undefined)
    throw badInput('--endpoint needs --solver, the address that signs.')
  const { createRpcClient } = await import('../../../chain/src/rpc-client.js')
  const { client, close } = createRpcClient([options.rpcUrl])
  return readSigningTerms(client, options).then(ask).finally(close)

  async function ask(signing: SigningTerms): Promise<CertifyReport> {
    const { certifyEndpoint, certifySession } = await import('../certify/certify-solver.js')
    const standing = await readStandingSource(io, options, signing)
    const run = { signing, swap: options, timeoutMs, signal, standing }
    const service = await loadHost()
    if (url !== undefined && solver !== undefined) {
      const endpoint = service.openEndpoint({ url, solver })
      return certifyEndpoint({ ...run, endpoint }).finally(endpoint.close)
    }
    const { chainId } = signing
    const host = await service.startSessions({ ...options, chainId, solver })
    io.stderr.write(
      `Waiting for a session of the solver at ${host.url}. Start the solver with this URL as its instance.\n`,
    )
    return certifySession({ ...run, host, waitMs: options.wait * 1000 }).finally(host.close)
  }
}

async function readSigningTerms(client: PublicClient, options: Options): Promise<SigningTerms> {
  const { readTerms } = await import('../certify/signing-terms.js')
  const { ChainConfigError } = await import('../../../chain/src/contract/chain-config-error.js')
  const refuse = (error: Error) => {
    if (!(error instanceof ChainConfigError))
      throw unavailable(`The node of --rpc-url does not answer: ${wordsOf(error)}`)
    const option = error.variable === 'PROTOCOL_NAME' ? '--protocol-name' : '--settlement'
    throw badInput(`${option} ${error.message}.`)
  }
  const terms = await readTerms(client, options.settlement, options.protocolName).catch(refuse)
  return { ...terms, readFreeBond: (solver) => terms.readFreeBond(solver).catch(refuse) }
}

/** Where the standing of the solver is read, and with which key; undefined without `--instance`. */
async function readStandingSource(
  io: CliIo,
  { instance: url, keyFile, protocolName }: Options,
  { chainId }: SigningTerms,
): Promise<StandingSource | undefined> {
  if (url === undefined) return undefined
  readUrl('--instance', url)
  const { readAccount } = await import('../solver-key.js')
  return { url, signer: await readAccount(io, keyFile), chainId, protocolName }
}
