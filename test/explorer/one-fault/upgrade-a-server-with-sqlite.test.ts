import { withOneFault } from '../with-one-fault.ts'

withOneFault('upgrade a server with SQLite')
