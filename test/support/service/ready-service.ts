import { eventually } from '../eventually.js'
import { startEventService } from './event-service.js'

/** A service that has read the contract of its chain, so that it quotes from the first request on. */
export async function startReadyService(
  ...options: Parameters<typeof startEventService>
): ReturnType<typeof startEventService> {
  const service = await startEventService(...options)
  await eventually(
    async () => {
      // A connection that is kept would count as one of the service.
      const response = await fetch(`${service.url}/v1/chains`, { headers: { connection: 'close' } })
      return ((await response.json()) as { chains: { domain?: object }[] }).chains
    },
    (chains) => chains.every(({ domain }) => domain !== undefined),
  )
  return service
}
