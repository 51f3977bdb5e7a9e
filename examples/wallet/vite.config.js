import react from '@vitejs/plugin-react'
import { defineConfig, loadEnv } from 'vite'

export default defineConfig(({ command, mode }) => {
  // An instance could name another contract.
  if (command === 'build' && !loadEnv(mode, process.cwd()).VITE_SETTLEMENT)
    throw new Error('VITE_SETTLEMENT must be the address of the settlement contract.')
  return { plugins: [react()], server: { port: 5173 } }
})
