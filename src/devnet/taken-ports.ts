import { connect } from 'node:net'
import { type Network, USUAL_PORTS } from './network.js'

/** A part of a network that clients do not find at `localhost` and its usual port. */
export interface MovedPart {
  readonly name: string
  readonly usualPort: number
  /** Where clients find it. */
  readonly url: string
  /** Another server has the port at ::1, which `localhost` may mean. The part itself is at its usual port. */
  readonly isOnlyIpv6Taken: boolean
}

/**
 * Finds the parts of a network whose usual port is taken, at 127.0.0.1 or at ::1.
 * @param servicePort the port that the service was to take
 */
export async function movedParts(
  network: Network,
  servicePort: number = USUAL_PORTS.service,
): Promise<MovedPart[]> {
  const { devnet, serviceUrl, solvers } = network
  const parts = [
    { name: 'the service', usualPort: servicePort, url: serviceUrl },
    { name: 'the chain', usualPort: USUAL_PORTS.chain, url: devnet.rpcUrl },
    ...solvers.flatMap(({ name, endpointUrl: url }, index) =>
      url === undefined
        ? []
        : { name: `the solver ${name}`, usualPort: USUAL_PORTS.firstSolver + index, url },
    ),
  ]
  const moved = parts.map(async (part): Promise<MovedPart[]> => {
    if (Number(new URL(part.url).port) !== part.usualPort) return [{ ...part, isOnlyIpv6Taken: false }]
    return (await isIpv6Taken(part.usualPort)) ? [{ ...part, isOnlyIpv6Taken: true }] : []
  })
  return (await Promise.all(moved)).flat()
}

/** Whether a server answers at a port of ::1; false on a machine without IPv6. */
function isIpv6Taken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '::1')
    const end = (isTaken: boolean) => {
      socket.destroy()
      resolve(isTaken)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}
