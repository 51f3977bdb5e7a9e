import { settlementAbi } from '../../gen/contracts/settlement.js'
import { createDevnetClient } from './deploy.js'
import { type EventView, type OrderMessage, openEventView } from './event-view.js'
import type { Network } from './network.js'
import { playPurchase, playRefund, playSale } from './orders.js'
import type { Replica } from './replica.js'
import { type ReplicaSet, waitForLeader } from './replicas.js'
import { expectEqual, type Print, type ScenarioContext } from './user-steps.js'

type ReplicaNetwork = Network<ReplicaSet>

const ORDER_EVENTS: readonly string[] = ['Deposited', 'Settled', 'Refunded']

/**
 * Runs three orders on at least two replicas, as a user who follows the events at the leader of the chain.
 * It kills the leader between the deposit for the second order and its settlement.
 * @returns the replica that was killed
 * @throws Error when a step has another result than expected
 */
export async function runReplicaScenario(network: ReplicaNetwork, print: Print): Promise<Replica> {
  const { all } = network.service
  const leader = await waitForLeader(network.service, network.devnet.chainId)
  print(`The solvers have registered at or connected to ${all[0].name}. Each replica asks all of them:`)
  print(`those with an endpoint there, and those with a session through the replica that holds it.`)
  print(`${leader.name} is the leader of the chain, and notifies the others.`)
  const [next = leader, ...others] = all.filter((replica) => replica !== leader)
  const last = others.at(-1) ?? next
  const events = await openEvents([leader, next, ...others], print)
  const at = ({ url }: Replica): ScenarioContext => ({ ...network, serviceUrl: url, events })
  try {
    print(`1. At ${leader.name}: buy exactly 1000 USDC, paid to the deposit address`)
    await playPurchase(at(leader), print)
    print(`2. At ${next.name}: sell exactly 1 WETH, deposited at the contract`)
    await playSale(at(next), print, () => killLeader(network, leader, print))
    print(`3. At ${last.name}: sell 1 WETH to a solver that does not fill`)
    await playRefund(at(last), print)
    await compareWithChain(network, events.messages, print)
    await listSolvers(network, last, print)
  } finally {
    await events.close()
  }
  return leader
}

function openEvents(replicas: readonly Replica[], print: Print): Promise<EventView> {
  const nameOf = (servedBy: string) => replicas.find(({ url }) => url === servedBy)?.name
  return openEventView({
    serviceUrls: replicas.map(({ url }) => url),
    onEvent: ({ type, orderId, blockNumber }, servedBy) =>
      print(`   event    ${type} ${orderId} in block ${blockNumber}, sent by ${nameOf(servedBy)}`),
    onMoved: (servedBy) => print(`   the event stream goes on at ${nameOf(servedBy)} from its cursor`),
    onError: (error) => print(`   the event stream is lost: ${error}`),
  })
}

async function killLeader({ service, devnet }: ReplicaNetwork, leader: Replica, print: Print): Promise<void> {
  const killedAt = performance.now()
  print(
    `   ${leader.name} is killed (kill -9 ${leader.pid()}): its streams break, and the chain has no leader`,
  )
  await leader.kill()
  const next = await waitForLeader(service, devnet.chainId)
  print(
    `   ${next.name} is the leader of the chain, ${((performance.now() - killedAt) / 1000).toFixed(1)} s later`,
  )
}

/** @throws Error unless each event of the chain was received once, and in the chain's order */
async function compareWithChain(
  { devnet, contracts, user }: ReplicaNetwork,
  messages: readonly OrderMessage[],
  print: Print,
): Promise<void> {
  const source = { address: contracts.settlement, abi: settlementAbi, fromBlock: 0n } as const
  const logs = await createDevnetClient(devnet, user).getContractEvents(source)
  const onChain = logs.flatMap(({ eventName, args, blockNumber }) =>
    ORDER_EVENTS.includes(eventName) && 'orderId' in args
      ? [`${eventName} ${args.orderId} ${blockNumber}`]
      : [],
  )
  const received = messages.map(({ type, orderId, blockNumber }) => `${type} ${orderId} ${blockNumber}`)
  expectEqual('events', received.join('\n'), onChain.join('\n'))
  print(
    `The chain has ${onChain.length} events of orders; ${received.length} were received, each once and in order`,
  )
}

/**
 * A solver without an endpoint is active while its session lasts, which may have ended with its replica.
 * @throws Error unless the replica lists all solvers with an endpoint, which have registered at another replica
 */
async function listSolvers(
  { devnet, solvers }: ReplicaNetwork,
  replica: Replica,
  print: Print,
): Promise<void> {
  const response = await fetch(`${replica.url}/v1/${devnet.chainId}/solvers`)
  if (!response.ok) throw new Error(`no solvers: ${await response.text()}`)
  const listed = ((await response.json()) as { name: string }[]).map(({ name }) => name)
  const registered = solvers.filter(({ endpointUrl }) => endpointUrl !== undefined).map(({ name }) => name)
  const found = listed.filter((name) => registered.includes(name))
  expectEqual(`solvers at ${replica.name}`, found.join(', '), registered.join(', '))
  print(`${replica.name} lists the solvers ${listed.join(', ')}`)
}
