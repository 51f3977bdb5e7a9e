import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The demo's service has port 3000, its chain 8545.
export default defineConfig({ plugins: [react()], server: { port: 5173 } })
