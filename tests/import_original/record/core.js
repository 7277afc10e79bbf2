// A stand-in for @ocas/core, from the measured format; only for making sample homes.
import { encode, decode } from "cborg";
import xxhash from "xxhash-wasm";
import Ajv from "ajv";
import meta from "./meta.json";
const api = await xxhash();
const ALPHA = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
function b32(n){let r="";for(let i=0;i<13;i++){r=ALPHA[Number(n&31n)]+r;n>>=5n}return r}
// cborg writes small floats as half; float64 and bytewise key order are asked for.
export function cborEncode(v){return encode(v,{float64:true})}
export function cborDecode(b){return decode(new Uint8Array(b))}
const ascii=s=>new TextEncoder().encode(s);
export function computeHashSync(type,payload){const c=cborEncode(payload);const t=ascii(type);const b=new Uint8Array(t.length+c.length);b.set(t);b.set(c,t.length);return b32(api.h64Raw(b))}
export function computeSelfHashSync(payload){return b32(api.h64Raw(cborEncode(payload)))}
export const BOOTSTRAP_STORE=Symbol.for("ocas.bootstrap-store");
const ajv=new (Ajv.default??Ajv)({strict:false});
ajv.addFormat("ocas_ref",/^[0-9A-HJKMNP-TV-Z]{13}$/);
export function bootstrap(store){
  const m=store.cas[BOOTSTRAP_STORE](meta);
  const out={"@ocas/schema":m};
  for(const t of ["string","number","integer","boolean","object","array","null"]) out["@ocas/"+t]=store.cas.put(m,{type:t});
  out["@ocas/bool"]=out["@ocas/boolean"];
  for(const [n,h] of Object.entries(out)) store.var.set(n,h);
  return out;
}
export function putSchema(store,schema){const m=bootstrap(store)["@ocas/schema"];return store.cas.put(m,schema)}
export function getSchema(store,h){return store.cas.get(h)?.payload??null}
export function validate(store,node){const s=getSchema(store,node.type);if(s===null)return false;return ajv.validate(s,node.payload)}
