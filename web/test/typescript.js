// Loads TypeScript modules of src in Node: node --import ./test/typescript.js --test
import { register } from "node:module";

register("./typescript-hooks.js", import.meta.url);
