import './styles/tokens.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/header.css'
import './styles/parts.css'
import './styles/tables.css'
import './styles/cards.css'
import './styles/event-list.css'
import './styles/swap.css'
import './styles/token-field.css'
import './styles/swap-steps.css'
import './styles/charts.css'
import './styles/touch.css'
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
