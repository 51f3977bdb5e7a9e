import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { WagmiProvider } from 'wagmi'
import { AggregatorContext } from './aggregator-hooks'
import { aggregator, wagmi } from './config'
import { SmallSwap } from './small-swap'
import { SwapPage } from './swap'

/** The small page is the one of docs/client.md. */
const Page = location.hash === '#small' ? SmallSwap : SwapPage

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no element for the app')
createRoot(root).render(
  <StrictMode>
    <WagmiProvider config={wagmi}>
      <QueryClientProvider client={new QueryClient()}>
        <AggregatorContext value={aggregator}>
          <Page />
        </AggregatorContext>
      </QueryClientProvider>
    </WagmiProvider>
  </StrictMode>,
)
