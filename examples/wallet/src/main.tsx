import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { WagmiProvider } from 'wagmi'
import { AggregatorContext } from './aggregator-hooks'
import { aggregator, wagmi } from './config'
import { SwapPage } from './swap'

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no element for the app')
createRoot(root).render(
  <StrictMode>
    <WagmiProvider config={wagmi}>
      <QueryClientProvider client={new QueryClient()}>
        <AggregatorContext value={aggregator}>
          <SwapPage />
        </AggregatorContext>
      </QueryClientProvider>
    </WagmiProvider>
  </StrictMode>,
)
