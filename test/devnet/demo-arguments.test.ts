import { expect, it } from 'vitest'
import { readDemoArguments } from '../../src/devnet/demo-arguments.js'

it.each([
  [[], {}],
  [['--once'], { once: true }],
  [['--port', '1'], { port: 1 }],
  [['--port=65535'], { port: 65_535 }],
  [['--traffic'], { traffic: true }],
  [['--help'], { help: true }],
  [['-h'], { help: true }],
])("the demo's arguments %j are read", (args, expected) => {
  const nothing = { once: false, port: undefined, traffic: false, help: false }
  expect(readDemoArguments(args)).toEqual({ ...nothing, ...expected })
})

it.each(['0', '65536', '-1', '080', '3000.5', '', 'x'])('the demo rejects the port "%s"', (port) => {
  expect(() => readDemoArguments([`--port=${port}`])).toThrow(
    `--port is "${port}": it must be an integer of 1 to 65535\nPlays a few swaps`,
  )
})

it.each([[['--port']], [['--twice']], [['3']]])('the demo prints its usage for %j', (args) => {
  expect(() => readDemoArguments(args)).toThrow('npm run demo -- --port 8080')
})
