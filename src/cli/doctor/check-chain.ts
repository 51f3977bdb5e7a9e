import { createRpcClient } from '../../chain/rpc-client.js'
import { summary } from '../../chain/rpc-error.js'
import type { ChainConfig, Config } from '../../config.js'
import { checkContract } from './check-contract.js'
import { type ExaminedEndpoint, examineEndpoint } from './check-endpoint.js'
import { collectFindings, type Finding } from './finding.js'

/** What is known of a chain. */
export interface ExaminedChain {
  readonly chainId: number
  readonly findings: readonly Finding[]
  /** How far the latest head's time lies before this machine's clock, in milliseconds; undefined without a head. */
  readonly headAgeMs: number | undefined
}

type UsableEndpoint = ExaminedEndpoint & { readonly head: NonNullable<ExaminedEndpoint['head']> }

/** Blocks that one endpoint may be behind another without a word. */
const USUAL_LAG_BLOCKS = 3

/** Checks a chain's endpoints, each alone and against the others, and its settlement contract. */
export async function examineChain(chain: ChainConfig, config: Config): Promise<ExaminedChain> {
  const rpc = createRpcClient(chain.rpcUrls)
  try {
    const endpoints = await Promise.all(
      rpc.endpoints.map((endpoint, index) => examineEndpoint(chain, endpoint, index)),
    )
    const usable = endpoints.filter((endpoint): endpoint is UsableEndpoint => endpoint.head !== undefined)
    const [agreement, contract] = await Promise.all([
      checkAgreement(chain, usable),
      checkContract(chain, usable[0]?.endpoint.client, config),
    ])
    const ages = usable.map(({ headAgeMs }) => headAgeMs)
    return {
      chainId: chain.chainId,
      findings: [...endpoints.flatMap(({ findings }) => findings), ...agreement, ...contract],
      headAgeMs: ages.length === 0 ? undefined : Math.min(...ages),
    }
  } finally {
    rpc.close()
  }
}

/** Whether endpoints are about as far as each other, and on the same chain at a block that all of them have. */
async function checkAgreement(
  { chainId }: ChainConfig,
  endpoints: readonly UsableEndpoint[],
): Promise<readonly Finding[]> {
  const findings = collectFindings(`RPC_URL_${chainId}`)
  if (endpoints.length < 2) return findings.list
  const numbers = endpoints.map(({ head }) => head.number)
  const [lowest, highest] = [Math.min(...numbers), Math.max(...numbers)]
  const text = `heads at ${numbers.join(', ')}`
  const cure = 'The service passes over an endpoint that lags: put the one that is ahead first.'
  if (highest - lowest > USUAL_LAG_BLOCKS) findings.warn('heads', text, cure)
  else findings.ok('heads', text)

  try {
    const headers = await Promise.all(endpoints.map(({ reader }) => reader.header(lowest)))
    const isAgreed = new Set(headers.map(({ hash }) => hash)).size === 1
    if (isAgreed) findings.ok('agreement', `all have the same block ${lowest}`)
    else {
      const wrong = `All URLs of RPC_URL_${chainId} must be of one network: compare block ${lowest} with an explorer.`
      findings.fail('agreement', `they have different blocks ${lowest}`, wrong)
    }
  } catch (error) {
    findings.warn('agreement', `block ${lowest} could not be compared: ${summary(error)}`)
  }
  return findings.list
}
