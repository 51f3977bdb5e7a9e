import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hex, hexToBytes, parseUnits } from 'viem'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startCable } from '../../../../test/support/faults/cable.js'
import {
  generatePythonStubs,
  HAS_PYTHON_GRPC,
  PYTHON,
} from '../../../../test/support/packages/python-stubs.js'
import { startProcess } from '../../../../test/support/process/process.js'
import { PATIENT, startSessionRun, troubles } from '../../../../test/support/solvers/certify.js'
import { checkSignature, personalMessageDigest } from '../../../protocol/src/signing/signatures.js'
import { sessionMessage } from '../../../protocol/src/solvers/registration-messages.js'
import { createDevnetClient, devAccounts, send } from '../../src/devnet/deploy.js'
import type { Network } from '../../src/devnet/network.js'
import { playSale } from '../../src/devnet/scenario.js'
import { keyOf, startNetworkFor } from './example-swaps.js'

const account = devAccounts[7]
const EXAMPLE = 'examples/solver-python'
/** Signs hellos with the challenges 0x0 to 0x31. */
const SIGN_HELLOS = `
import sys
from signing import read_key, sign_hello
key, address = read_key(sys.argv[1])
for nonce in range(32):
    print(sign_hello(key, "Service", address, "Zoë", "https://quotes.example", [8453, 1], f"0x{nonce}"))
`
const PREPARE_MS = 60_000
const CRYPTOGRAPHY = ['ecdsa', 'Cryptodome'].map((name) => `/usr/lib/python3/dist-packages/${name}`)

describe.skipIf(!HAS_PYTHON_GRPC || !CRYPTOGRAPHY.every(existsSync))(
  'the example of a solver in Python (needs gRPC, python3-ecdsa and python3-pycryptodome of Debian)',
  () => {
    let network: Network
    let cable: Awaited<ReturnType<typeof startCable>>
    let folder: string
    let solver: ReturnType<typeof startProcess>

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))
      ;[network] = await Promise.all([startNetworkFor(account), generatePythonStubs(folder)])
      cable = await startCable(network.serviceUrl)
      const { devnet, contracts } = network
      const owner = createDevnetClient(devnet, account)
      await send(owner, contracts.usdc, 'approve', [contracts.settlement, parseUnits('10000', 6)])
      solver = startSolver()
      await solver.waitFor(/^ready [0-9a-f-]{36}$/m)
    }, PREPARE_MS)

    afterAll(async () => {
      solver?.signal('SIGKILL')
      await cable?.close()
      await network?.close()
      await rm(folder, { recursive: true, force: true })
    })

    function startSolver(aggregatorUrl = cable.url) {
      return startProcess(PYTHON, [`${EXAMPLE}/solver.py`], {
        AGGREGATOR_URL: aggregatorUrl,
        RPC_URL: network.devnet.rpcUrl,
        PRIVATE_KEY: keyOf(account),
        PYTHONPATH: folder,
        PYTHONDONTWRITEBYTECODE: '1',
      })
    }

    /** Asks for USDC for WETH, unless `terms` names other tokens. @returns the answer, or the error */
    async function requestQuote(terms: Record<string, unknown>) {
      const { devnet, contracts, user, serviceUrl } = network
      const { chainId } = devnet
      const swap = { inputToken: contracts.weth, outputToken: contracts.usdc, depositMode: 'CONTRACT' }
      const chains = { originChainId: chainId, destinationChainId: chainId, userAddress: user.address }
      const response = await fetch(`${serviceUrl}/v1/${chainId}/quote`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...swap, ...chains, ...terms }),
      })
      return (await response.json()) as { quote?: { solver: Hex; inputAmount: string }; quoteId: string }
    }

    /** @returns the solver's part of the caller's record */
    async function recordOf(quoteId: string) {
      const response = await fetch(`${network.serviceUrl}/v1/${network.devnet.chainId}/quote/${quoteId}`)
      const { solvers } = (await response.json()) as { solvers: { solver: Hex; outcome: string }[] }
      return solvers.find(({ solver }) => solver === account.address)
    }

    it('signs as the contract demands, with s in the lower half and v of 27 or 28', async () => {
      const environment = { PYTHONPATH: EXAMPLE, PYTHONDONTWRITEBYTECODE: '1' }
      const program = startProcess(PYTHON, ['-c', SIGN_HELLOS, keyOf(account)], environment)
      expect(await program.exited, program.output()).toBe(0)
      const signatures = program.output().trim().split('\n') as Hex[]
      const address = account.address.toLowerCase() as Hex
      const identity = { address, name: 'Zoë', audience: 'https://quotes.example', chainIds: [1, 8453] }
      const problems = signatures.map((signature, index) => {
        const text = sessionMessage('Service', { ...identity, nonce: `0x${index}` })
        return checkSignature(personalMessageDigest(text), hexToBytes(signature), address)
      })
      expect(problems).toEqual(new Array(32).fill(undefined))
    })

    it('wins a quote, gets its result, and fills the deposit', async () => {
      const lines: string[] = []
      await playSale(network, (line) => void lines.push(line))
      expect(lines).toContain(`   ${account.address} 2499 USDC for 1 WETH  <- best`)
      await solver.waitFor(/^settled 0x\w{64}$/m)
      expect(solver.output()).toMatch(
        /^ready \S+\nresult QUOTED\ndeposited (0x\w{64})\nfilling \1 0x\w{64}\nsettled \1\n$/,
      )
    })

    it('wins a quote whose output is fixed', async () => {
      const { quote, quoteId } = await requestQuote({ orderType: 'EXACT_OUTPUT', amount: '1000000000' })
      expect(quote).toMatchObject({ solver: account.address, inputAmount: '400160064025610245' })
      expect(await recordOf(quoteId)).toMatchObject({ outcome: 'QUOTED', rank: 1 })
    })

    it.each([
      { code: 'AMOUNT_TOO_LARGE', amount: String(parseUnits('10', 18)) },
      { code: 'AMOUNT_TOO_SMALL', amount: '1' },
      { code: 'UNSUPPORTED_PAIR', amount: '1000', inputToken: devAccounts[9].address },
    ])('declines with $code, which the record of the quote has', async ({ code, ...terms }) => {
      const { quoteId } = await requestQuote({ orderType: 'EXACT_INPUT', ...terms })
      expect(await recordOf(quoteId)).toMatchObject({ outcome: 'DECLINED', declineCode: code })
    })

    it('passes certify over gRPC', async () => {
      const run = await startSessionRun(network, { solver: account.address, more: PATIENT })
      const certified = startSolver(run.url)
      onTestFinished(() => void certified.signal('SIGKILL'))
      const { code, report } = await run.ended
      // It connects again when its connection has ended, which is soon after `goAway`: a warning.
      expect([code, report.notRun, troubles(report)]).toEqual([0, [], []])
    })

    it('connects again after a loss, and quotes', async () => {
      cable.cut()
      await solver.waitFor(/^ended UNAVAILABLE .*\n(.*\n)*ready \S+$/m)
      const { quote } = await requestQuote({ orderType: 'EXACT_INPUT', amount: String(parseUnits('1', 18)) })
      expect(quote?.solver).toBe(account.address)
    })

    it('ends when another process with its key has taken its place', async () => {
      const second = startSolver()
      onTestFinished(() => void second.signal('SIGKILL'))
      await second.waitFor(/^ready /m)
      expect(await solver.exited).toBe(1)
      expect(solver.output()).toMatch(/\nended SESSION_REPLACED .*\n$/)
    })
  },
)
