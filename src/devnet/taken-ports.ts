import { createServer } from 'node:net'
import { type Network, USUAL_PORTS } from './network.js'

/** A part of a network that is not at its usual port. */
export interface MovedPart {
  readonly name: string
  readonly usualPort: number
  readonly url: string
}

/**
 * Finds the parts of a network whose usual port was taken.
 * @param servicePort the port that the service was to take, and the next ones its further replicas
 */
export function movedParts(network: Network, servicePort: number = USUAL_PORTS.service): MovedPart[] {
  const { devnet, service, solvers } = network
  const isOne = service.urls.length === 1
  const parts = [
    ...service.urls.map((url, index) => ({
      name: isOne ? 'the service' : `replica ${index + 1}`,
      usualPort: servicePort + index,
      url,
    })),
    { name: 'the chain', usualPort: USUAL_PORTS.chain, url: devnet.rpcUrl },
    ...solvers.map(({ name, endpointUrl }, index) => ({
      name: `the solver ${name}`,
      usualPort: USUAL_PORTS.firstSolver + index,
      url: endpointUrl,
    })),
  ]
  return parts.filter(({ usualPort, url }) => Number(new URL(url).port) !== usualPort)
}

/** Whether nothing listens at a port of 127.0.0.1, and this process may. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
