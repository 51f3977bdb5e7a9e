import './styles/console.css'
import { render } from 'preact'
import { App } from './app.js'
import { chainIdHere, followChains } from './data/chains.js'
import { followEvents } from './data/events.js'
import { followHealth } from './data/health.js'
import { followSolvers } from './data/solvers/solvers.js'
import { followTokens } from './data/tokens/tokens.js'
import { listenForShortcuts } from './keyboard.js'
import { reconnectLastWallet } from './wallet/load.js'

followChains()
followHealth()
followSolvers()
followTokens(chainIdHere)
followEvents()
listenForShortcuts()
reconnectLastWallet()
const root = document.getElementById('app')
if (root === null) throw new Error('the page has no element for the console')
render(<App />, root)
