import { expect, it } from 'vitest'
import { readDemoArguments } from '../../src/devnet/demo-arguments.js'

it.each([
  [[], {}],
  [['--once'], { once: true }],
  [['--replicas', '2'], { replicas: 2 }],
  [['--replicas=9', '--once'], { once: true, replicas: 9 }],
  [['--port', '1'], { port: 1 }],
  [['--port=65535'], { port: 65_535 }],
  [['--traffic'], { traffic: true }],
  [['--help'], { help: true }],
  [['-h'], { help: true }],
])("the demo's arguments %j are read", (args, expected) => {
  const nothing = { once: false, replicas: undefined, port: undefined, traffic: false, help: false }
  expect(readDemoArguments(args)).toEqual({ ...nothing, ...expected })
})

it.each(['0', '65536', '-1', '080', '3000.5', '', 'x'])('the demo rejects the port "%s"', (port) => {
  expect(() => readDemoArguments([`--port=${port}`])).toThrow(
    `--port is "${port}": it must be an integer of 1 to 65535\nPlays a few swaps`,
  )
})

it('the demo rejects a port that leaves none to the last replica', () => {
  expect(readDemoArguments(['--replicas=3', '--port=65533']).port).toBe(65_533)
  expect(() => readDemoArguments(['--replicas=3', '--port=65534'])).toThrow(
    '--port is "65534": it must be an integer of 1 to 65533',
  )
})

it.each(['0', '1', '10', '-3', '2.5', '02', '3 ', '', 'x'])('the demo rejects "%s" replicas', (count) => {
  expect(() => readDemoArguments([`--replicas=${count}`])).toThrow(
    `--replicas is "${count}": it must be an integer of 2 to 9\nPlays a few swaps`,
  )
})

it.each([[['--replicas']], [['--twice']], [['3']]])('the demo prints its usage for %j', (args) => {
  expect(() => readDemoArguments(args)).toThrow('npm run demo -- --replicas 3')
})
